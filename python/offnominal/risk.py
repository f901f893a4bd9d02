"""Failure probabilities: estimate, search, learn, split, select, stress, replay.

Each function is a command and returns what that prints with ``--json``: a dict, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from offnominal._command import AnyPolicy, Path, one
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result

__all__ = [
    "budget",
    "estimate",
    "learn",
    "replay",
    "search",
    "select",
    "split",
    "stress",
]


def estimate(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    method: Literal["plain", "thinned", "adaptive"] | None = None,
    predictor: Path | None = None,
    episodes: int | None = None,
    exponent: float | None = None,
    goal: Literal["estimate", "gate"] | None = None,
    plain_share: float | None = None,
    top_share: float | None = None,
    rate: float | None = None,
    level: float | None = None,
    max_risk: float | None = None,
    early_stop: bool = False,
    width: float | None = None,
    cheap: AnyEnvironment | None = None,
    parameters: Mapping[str, float] | None = None,
    cheap_parameters: Mapping[str, float] | None = None,
    per_dear: int | None = None,
    block: int | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    anomaly: str | None = None,
    magnitude: float | None = None,
    strength: str | None = None,
    strengths: Path | None = None,
    channels: str | Sequence[str | int] | None = None,
    onset: str | int | None = None,
    window: int | None = None,
    intermittent: tuple[int, int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Estimate the failure probability of a policy, with an interval, and report the kinds of failures.

    The command ``offnominal risk estimate``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param method: How initial conditions are chosen [default: thinned with a predictor, else plain]: ``plain``: Draws
        of the environment itself: counting; ``thinned``: Draws that are tried with a chance that grows with the
        prediction; valid whenever one stops; ``adaptive``: Draws that are tried with a chance that follows what failed
        before, with or without a predictor; valid whenever one stops
    :param predictor: The predictor that `risk learn` wrote
    :param episodes: Number of episodes, each from an initial condition that the method chooses; a run in the output
        folder is continued to so many [default: 1000]
    :param exponent: Sample initial conditions in proportion to the predicted chance of failure to this power [default:
        as learned]
    :param goal: What the run is for; it sets ``plain_share`` [default: estimate]: ``estimate``: To know the failure
        probability: a tenth of the experiments ignores the predictor; ``gate``: To show that it is small: four fifths
        of them do, because only these lower the upper end
    :param plain_share: Share of the experiments that ignores the predictor, above 0, at most 1 [default: 0.1, and 0.8
        with ``goal`` gate]
    :param top_share: Also report the failure rate within this share of all draws, those with the highest predictions: a
        whole number of percent
    :param rate: Experiments per draw of the methods thinned and adaptive, above 0, at most 1 [default: as few as the
        predictor can use; 0.1 for adaptive]
    :param level: Confidence level of the intervals, between 0 and 1 [default: 0.95]
    :param max_risk: Largest acceptable failure probability: if the upper end of the interval is above it, the exit code
        is 1
    :param early_stop: End as soon as the interval lies on one side of ``max_risk``; ``episodes`` are then the most
    :param width: End as soon as the interval is at most so wide; ``episodes`` are then the most
    :param cheap: A low-fidelity environment with the same channels and initial conditions as ``env``: pairs of episodes
        in both, and fresh ones in the low-fidelity one, need fewer episodes of ``env``
    :param parameters: A parameter of ``env`` that differs from nominal, in all episodes; can be repeated
    :param cheap_parameters: A parameter of the low-fidelity environment that differs from nominal, in all episodes; can
        be repeated
    :param per_dear: Fresh low-fidelity episodes per episode of ``env``, beside the one that begins as it does [default:
        5]
    :param block: Pairs between two looks [default: 25]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param anomaly: Anomaly id (see `list anomalies ``env```); without it the episodes are nominal
    :param magnitude: How strong, in the anomaly's own unit
    :param strength: How strong, as a calibrated level: tiny, medium, strong or extreme; always for all channels
    :param strengths: The table that `calibrate` wrote, or its folder, with the strength [default: shipped, then
        runs/calibrate]
    :param channels: Channels that are touched, by name or index, with commas between; `one` draws one for each episode
        [default: all]
    :param onset: First anomalous step: a number, or `random` [default: random]
    :param window: The anomaly ends after so many steps
    :param intermittent: The anomaly comes for ON steps and goes for OFF steps
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk estimate", locals())


def learn(
    env: AnyEnvironment,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    histories: Path | Sequence[Path] | None = None,
    policies: AnyPolicy | Sequence[AnyPolicy] | None = None,
    episodes: int | None = None,
    noises: float | Sequence[float] | None = None,
    history_only: bool = False,
    near: Path | None = None,
    form: Literal["mlp", "dictionary", "hazard", "margin"] | None = None,
    places: bool = False,
    early: float | None = None,
    later: float | None = None,
    steps: int | None = None,
    members: int | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Learn where failures are likely: from the history of a training run, or from episodes of weaker policies.

    The command ``offnominal risk learn``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param histories: The history that `train ``histories``` or an earlier `risk learn` wrote; may be repeated, to learn
        from several runs
    :param policies: A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills, whose
        episodes make a history first; may be repeated
    :param episodes: Episodes of each ``policies`` at each level of noise [default: 1000]
    :param noises: Standard deviation of the noise on their commands, as a share of half their range; may be repeated
        [default: 0]
    :param history_only: End when the history of the policies is written
    :param near: A history of policies that fail about as rarely as the one under test; it chooses the exponent, and
        nothing is learned from it
    :param form: How chances are represented [default: hazard where initial conditions lead past places, else mlp]:
        ``mlp``: Dense networks; ``dictionary``: A vote of the nearest remembered episodes; ``hazard``: Hazards that add
        up along a track, where initial conditions lead past many places; ``margin``: Dense networks that learn how near
        episodes came to failing, from their margins: few failures are needed, or none
    :param places: Learn hazards from the place of each failure too, where the history has it
    :param early: Share of the training that is left out at its beginning, from 0 to 1 [default: 0.1]
    :param later: Share of the failures that the later part of the history has, which chooses the settings and, without
        ``near``, the exponent [default: 0.2]
    :param steps: Most gradient steps [default: 6000]
    :param members: Networks whose chances are averaged; a dictionary is always one [default: 5]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk learn", locals())


def search(
    env: AnyEnvironment,
    policies: AnyPolicy | Sequence[AnyPolicy],
    strategies: Literal["random", "replay", "argmax", "cross-entropy", "elites"] | Sequence[Literal["random", "replay", "argmax", "cross-entropy", "elites"]],
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    predictor: Path | None = None,
    history: Path | None = None,
    searches: int | None = None,
    budget: int | None = None,
    of: int | Sequence[int] | None = None,
    all_: bool = False,
    level: float | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Measure how many episodes finding one failure takes.

    The command ``offnominal risk search``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policies: A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be
        repeated, to compare
    :param strategies: Where to look; may be repeated, to compare strategies: ``random``: Draws of the environment
        itself; ``replay``: Failures of the training, the least noisy and most recent first; then random draws;
        ``argmax``: The draw of many that the predictor finds most dangerous; ``cross-entropy``: A normal distribution
        that follows the most dangerous conditions; ``elites``: Variations of the most dangerous condition of each cell
        of an archive
    :param predictor: The predictor that `risk learn` wrote
    :param history: The history that `train ``history``` or `risk learn` wrote
    :param searches: Number of searches per policy [default: 20]
    :param budget: Experiments after which a search gives up [default: 10000]
    :param of: Draws of which argmax takes the most dangerous; may be repeated, to compare [default: 1000]
    :param all_: Spend the whole budget of each search, to find many failures and not only the first
    :param level: Confidence level of the intervals, between 0 and 1 [default: 0.95]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk search", locals())


def split(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    swarms: int | None = None,
    particles: int | None = None,
    moves: int | None = None,
    budget: int | None = None,
    level: float | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Estimate the failure probability in an environment with a margin, by swarms that move towards failure.

    The command ``offnominal risk split``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param swarms: Number of swarms that do not know one another [default: 4]
    :param particles: Particles per swarm [default: 50]
    :param moves: Moves of a replaced particle; enough to forget where it was copied from [default: 10]
    :param budget: Experiments after which a swarm gives up [default: 20000]
    :param level: Confidence level of the intervals, between 0 and 1 [default: 0.95]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk split", locals())


def select(
    env: AnyEnvironment,
    policies: AnyPolicy | Sequence[AnyPolicy],
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    predictor: Path | None = None,
    budget: int | None = None,
    round_: int | None = None,
    exponent: float | None = None,
    rate: float | None = None,
    level: float | None = None,
    history: bool = False,
    truth: Path | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the policy that fails least among several (best-arm identification).

    The command ``offnominal risk select``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policies: A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be
        repeated, to compare
    :param predictor: The predictor that `risk learn` wrote; without one all draws are tried
    :param budget: Experiments of each policy after which the selection ends [default: 5000]
    :param round_: Experiments of each policy per round, about [default: 100]
    :param exponent: How much the predictor is trusted [default: as learned]
    :param rate: Experiments per draw, with a predictor, above 0, at most 1 [default: 0.05]
    :param level: Probability with which the best policy is never thrown out, between 0 and 1 [default: 0.95]
    :param history: Also write the episodes as a history, from which `risk learn` makes a predictor
    :param truth: The select.json of a longer selection: also say how often the policy with the lowest estimate fails,
        round by round
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk select", locals())


def stress(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    noise: str | None = None,
    strategies: Literal["random", "climb", "cross-entropy"] | Sequence[Literal["random", "climb", "cross-entropy"]] | None = None,
    searches: int | None = None,
    budget: int | None = None,
    refine: int | None = None,
    parts: int | None = None,
    start: int | None = None,
    level: float | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the most likely failure under the declared noise of sensors and actuators: disturbances in every step.

    The command ``offnominal risk stress``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param noise: The noise whose disturbances are searched, where the id of the environment does not say it: a level,
        or a file of a table
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param strategies: How to search; may be repeated. `random` is always tried, for comparison [default: all]:
        ``random``: Draws of the noise itself; ``climb``: The disturbances nearest to failure so far, with a window of
        them drawn anew; ``cross-entropy``: Disturbances that hold for a part of the episode, from a normal distribution
        that follows those nearest to failure
    :param searches: Number of searches of each strategy, each from an initial condition of its own [default: 20]
    :param budget: Experiments after which a search gives up [default: 1000]
    :param refine: Episodes for making a failure likelier once it was found [default: 500]
    :param parts: Parts of an episode in each of which `cross-entropy` holds a disturbance [default: 16]
    :param start: Begin all searches where search N of the seed begins
    :param level: Confidence level of the intervals, between 0 and 1 [default: 0.95]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk stress", locals())


def replay(
    run: Path,
    *,
    failure: int | None = None,
    policy: AnyPolicy | None = None,
    size: int | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Result:
    """Play a failure of `risk estimate` or `risk stress` again, with images.

    The command ``offnominal risk replay``.

    :param run: Folder of a `risk estimate` or a `risk stress`
    :param failure: Number of the failure, as the report names it [default: 0]
    :param policy: The policy, where it is not to be found under the name it had
    :param size: Width and height of the images in pixels [default: 256]
    :param out: Folder for video and last image [default: one within RUN]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk replay", locals())


def budget(p: float, *, delta: float | None = None, confidence: float | None = None, progress: bool = True) -> Result:
    """How many episodes plain counting needs to know a failure probability within a factor.

    The command ``offnominal risk budget``.

    :param p: Failure probability, above 0 and below 1
    :param delta: The estimate is to lie between P / D and D P; at least 1.01 [default: 3]
    :param confidence: Probability with which it is to, between 0 and 1 [default: 0.95]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk budget", locals())
