"""Failure probabilities: estimate, search, learn, split, select, stress.

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
    method: Literal["plain", "thinned", "adaptive", "importance"] | None = None,
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
    table: Path | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | Sequence[str | int] | None = None,
    anomaly: str | None = None,
    magnitude: float | None = None,
    deviations: bool = False,
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
    """Estimate the failure probability of a policy; report kinds of failures.

    The command ``offnominal risk estimate``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param method: Sampling of initial conditions [default: thinned with ``predictor``, else plain]: ``plain``: Monte
        Carlo; ``thinned``: Likelier where the predictor expects failures; valid at any stop; ``adaptive``: Likelier
        where failures occurred before; valid at any stop; ``importance``: From normals fitted to failures; needs a
        stated distribution
    :param predictor: Predictor of `risk learn`
    :param episodes: Number of episodes; a larger number continues a run [default: 1000]
    :param exponent: Exponent of the predictor in the sampling density [default: as learned]
    :param goal: Purpose: estimate the probability, or show that it is small; sets ``plain_share`` [default: estimate]
    :param plain_share: Share of plain experiments [default: thinned 0.1, adaptive 0.5, importance 0.92; 0.8 with
        ``goal`` gate]
    :param top_share: Also report the failure rate within the riskiest SHARE of draws
    :param rate: Experiments per draw, thinned and adaptive [default: from the predictor; adaptive 0.01]
    :param level: Confidence level of the intervals [default: 0.95]
    :param max_risk: Largest acceptable failure probability; exit code 1 if not shown
    :param early_stop: Stop once the interval excludes ``max_risk``
    :param width: Stop once the interval is this narrow
    :param cheap: Low-fidelity environment with the same channels and initial conditions
    :param parameters: Parameter of ``env`` that differs from nominal; repeatable
    :param cheap_parameters: Parameter of the low-fidelity environment; repeatable
    :param per_dear: Extra low-fidelity episodes per high-fidelity episode [default: 5]
    :param block: Pairs between two looks [default: 25]
    :param table: Write all experiments: draws, seeds, weights, margins and outcomes
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param anomaly: Anomaly id (see `list anomalies`), or several at once: `ID=M+ID=M` [default: none]
    :param magnitude: Strength in the anomaly's own unit
    :param deviations: The magnitude counts in nominal standard deviations of each channel
    :param strength: Calibrated strength: tiny, medium, strong or extreme
    :param strengths: Table or folder of `calibrate` [default: shipped, then runs/calibrate]
    :param channels: Disturbed channels by name or index, or `one` at random [default: all]
    :param onset: First anomalous step, or `random` [default: random]
    :param window: Steps until the anomaly ends [default: to the end]
    :param intermittent: Repeat: ON steps with, OFF steps without the anomaly
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
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
    steps: int | None = None,
    members: int | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | Sequence[str | int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Learn a predictor of failures from training or from weaker policies.

    The command ``offnominal risk learn``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param histories: History of `train ``histories``` or `risk learn`; repeatable
    :param policies: Policy, or folder of policies, whose episodes become a history; repeatable
    :param episodes: Episodes per policy and noise level [default: 1000]
    :param noises: Action noise: standard deviation per half range; repeatable [default: 0]
    :param history_only: Write the history only; learn nothing
    :param near: History of similarly rare failures, which chooses the exponent only
    :param form: Kind of predictor [default: hazard with places, else mlp]: ``mlp``: Dense networks; ``dictionary``:
        Vote of the nearest stored episodes; ``hazard``: Hazards that add up along a track; ``margin``: Dense networks
        that predict the margin to failure
    :param places: Learn hazards from the place of each failure too
    :param early: Share of training to leave out at its beginning [default: 0.1]
    :param steps: Most gradient steps [default: 6000]
    :param members: Networks in the ensemble [default: 5]
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
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
    stl: str | int | Sequence[str | int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Measure how many episodes it takes to find a failure.

    The command ``offnominal risk search``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policies: Policy, or folder of policies (`train --checkpoints`); repeatable
    :param strategies: Search strategy; repeatable: ``random``: Plain sampling; ``replay``: Failures of training, least
        noisy and latest first; then random; ``argmax``: The candidate with the highest predicted risk;
        ``cross-entropy``: A normal distribution that follows high predictions; ``elites``: Mutations of the best
        candidate of each archive cell
    :param predictor: Predictor of `risk learn`
    :param history: History of `train ``history``` or `risk learn`
    :param searches: Searches per policy [default: 20]
    :param budget: Most experiments per search [default: 10000]
    :param of: Candidates per experiment of argmax; repeatable [default: 1000]
    :param all_: Do not stop at the first failure: spend the budget
    :param level: Confidence level of the intervals [default: 0.95]
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
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
    stl: str | int | Sequence[str | int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Estimate a small failure probability by subset simulation, where there is a margin.

    The command ``offnominal risk split``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param swarms: Independent swarms, whose spread gives the interval [default: 6]
    :param particles: Particles per swarm and level [default: 1000]
    :param moves: Markov moves per particle [default: 1]
    :param budget: Most experiments per swarm [default: 20000]
    :param level: Confidence level of the intervals [default: 0.95]
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
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
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | Sequence[str | int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the policy with the lowest failure rate (best-arm identification).

    The command ``offnominal risk select``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policies: Policy, or folder of policies (`train --checkpoints`); repeatable
    :param predictor: Predictor of `risk learn` [default: plain sampling]
    :param budget: Most experiments per policy [default: 5000]
    :param round_: Experiments per policy and round, about [default: 100]
    :param exponent: Exponent of the predictor in the sampling density [default: as learned]
    :param rate: Experiments per draw, with a predictor [default: 0.05]
    :param level: Probability of never eliminating the best policy [default: 0.95]
    :param history: Also write the episodes as a history for `risk learn`
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
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
    stl: str | int | Sequence[str | int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the most likely failure under sensor and actuator noise.

    The command ``offnominal risk stress``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param noise: Noise to search, if ``env`` does not name one: a level or file
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param strategies: Search strategy; repeatable; `random` always runs as the baseline [default: all]: ``random``:
        Plain sampling of the noise; ``climb``: Resample a window of the disturbances nearest to failure;
        ``cross-entropy``: Constant disturbances per part, from a normal distribution
    :param searches: Searches per strategy, each from its own initial condition [default: 20]
    :param budget: Most experiments per search [default: 1000]
    :param refine: Episodes spent on making a found failure likelier [default: 500]
    :param parts: Parts of an episode with a constant disturbance, for cross-entropy [default: 16]
    :param start: Begin all searches at the initial condition of search N
    :param level: Confidence level of the intervals [default: 0.95]
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk stress", locals())


def budget(
    *,
    p: float | None = None,
    delta: float | None = None,
    show_below: float | None = None,
    confidence: float | None = None,
    progress: bool = True,
) -> Result:
    """Tell how many episodes Monte Carlo needs for a failure probability.

    The command ``offnominal risk budget``.

    :param p: Failure probability, above 0 and below 1
    :param delta: Factor: the estimate lies between P / D and D P [default: 3]
    :param show_below: Instead: episodes without a failure that show a probability of at most P
    :param confidence: Probability of that [default: 0.95]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("risk budget", locals())
