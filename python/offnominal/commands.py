"""The commands of one word as functions.

Each function is a command and returns what that prints with ``--json``: a dict or a list of dicts, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from offnominal._command import AnyDetector, AnyPolicy, Path, either, one, several
from offnominal._environments import AnyEnvironment
from offnominal._tables import Records, Result

__all__ = [
    "audit",
    "bench",
    "calibrate",
    "collect",
    "compare",
    "demo",
    "doctor",
    "ensemble",
    "evaluate",
    "evidence",
    "export",
    "fit",
    "import_",
    "inspect",
    "list_",
    "metrics",
    "render",
    "report",
    "score",
    "shift",
    "train",
    "verify",
]


def inspect(
    logs: Path | Sequence[Path],
    *,
    map_: Path | None = None,
    report: Path | None = None,
    against: Path | Sequence[Path] | None = None,
    jobs: int = 0,
    strict: bool = False,
    progress: bool = True,
) -> Result:
    """Describe logs and propose a mapping of columns, or describe a monitor.

    The command ``offnominal inspect``.

    :param logs: Files or folders of one kind (formats: docs/reference/logs.md), compressed or not; or a monitor
    :param map_: Write the mapping, to edit it [default: print it]
    :param report: Write a page with a plot of each channel
    :param against: Reference logs: say which channels of LOGS differ from them
    :param jobs: Worker threads; 0 for all cores
    :param strict: Fail where a part of a log cannot be read
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("inspect", locals())


def fit(
    file: Path,
    logs: Path | Sequence[Path] | None = None,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    data: Path | None = None,
    faults: int | None = None,
    detector: AnyDetector | None = None,
    train: int | None = None,
    calibration: int | None = None,
    rule: str | None = None,
    alpha: float | None = None,
    false_alarms: str | int | None = None,
    confidence: float | None = None,
    run_length: str | int | None = None,
    block: int | None = None,
    monitors: int | None = None,
    arm_after: int | None = None,
    raise_after: int | None = None,
    clear_after: int | None = None,
    diagnosis: bool | None = None,
    lost_after: int | None = None,
    recalibrate: Path | None = None,
    memory: int | None = None,
    tolerance: float | None = None,
    map_: Path | None = None,
    events: Path | None = None,
    until: str | int | None = None,
    by_task: bool = False,
    env: AnyEnvironment | None = None,
    policy: AnyPolicy | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    strict: bool = False,
    progress: bool = True,
) -> Result:
    """Fit a detector on nominal data and set its alarm threshold.

    The command ``offnominal fit``.

    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param data: Nominal episodes of `collect`, instead of new ones
    :param faults: Simulated episodes per fault, so that a diagnosis names faults [default: 60; hosted environments 0]
    :param detector: Detector id, or table such as `{ id = "knn", k = 3 }`; default: panel [default: default]
    :param train: Training episodes [default: 100; of files, all not used for calibration]
    :param calibration: Held-out episodes that set the threshold [default: 100; of files, the last half]
    :param rule: Threshold rule: 3sigma, q95, max, conformal, band, cusum, martingale, run-length [default: conformal]
    :param alpha: Accepted share of nominal episodes with an alarm [default: 0.05]
    :param false_alarms: False alarms per time, instead of a share or a run length: 0.5/hour, 2/day
    :param confidence: Guarantee that share with this confidence, instead of on average
    :param run_length: Rule run-length: mean steps or time (30m, 10h, 7d) between false alarms
    :param block: Rule run-length: steps per block [default: five correlation lengths]
    :param monitors: Monitors that share the false-alarm budget (Bonferroni) [default: 1]
    :param arm_after: First steps of an episode, without alarm [default: 0]
    :param raise_after: Consecutive exceedances that raise the alarm [default: 1]
    :param clear_after: Consecutive quiet steps that clear the alarm [default: never within an episode]
    :param diagnosis: Store what a diagnosis needs; costs as much as `ensemble-dm` [default: true]
    :param lost_after: Missing readings in a row that make a sensor lost [default: 95th percentile of gaps, at least 10]
    :param file: Output file
    :param recalibrate: Do not fit: update this monitor's threshold from later nominal data
    :param memory: With ``recalibrate``: number of last episodes that set the threshold [default: 50]
    :param tolerance: With ``recalibrate``: limit of the threshold's rise (docs/explanations/alarms.md) [default: 3]
    :param map_: Mapping of columns to channels [default: the proposal of `inspect`]
    :param events: Labels of the logs: CSV of start, end, label, log; or NAB's JSON
    :param until: Use rows before the first `label`, a date, or a time since the start
    :param by_task: One threshold per task; small tasks share one
    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param logs: Nominal logs, instead of ``env`` and ``policy``
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
    :param strict: Fail where a part of a log cannot be read
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("fit", locals())


def score(
    monitor: Path,
    logs: Path | Sequence[Path] | None = None,
    *,
    map_: Path | None = None,
    events: Path | None = None,
    bad: Path | Sequence[Path] | None = None,
    report: Path | None = None,
    alarms: Path | None = None,
    mcap: Path | None = None,
    detectors: AnyDetector | Sequence[AnyDetector] | None = None,
    rule: str | None = None,
    alpha: float | None = None,
    table: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    strict: bool = False,
    progress: bool = True,
) -> Result | Records:
    """Score logs or episodes with a fitted detector; report alarms.

    The command ``offnominal score``.

    :param monitor: File of `fit`, or folder with splits as Anomaly-Gym publishes it
    :param logs: Logs, or one file of `collect`
    :param map_: Mapping of columns to channels [default: that of the fit]
    :param events: Labels of the logs: CSV of start, end, label, log; or NAB's JSON
    :param bad: Logs that are anomalous as a whole; the other LOGS are then nominal
    :param report: Write a page with each alarm and its channels; for logs
    :param alarms: Write a table of the alarms; for logs
    :param mcap: Write observations, actions and verdicts to a new MCAP file; for logs
    :param detectors: Folder: detector id or table; repeatable [default: default]
    :param rule: Folder: threshold rule, as for `fit` [default: conformal]
    :param alpha: Folder: accepted false-alarm share, as for `fit` [default: 0.05]
    :param table: Folder: write all numbers as CSV or Parquet
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param strict: Fail where a part of a log cannot be read
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return either("score", locals())


def audit(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    budget: str | int | None = None,
    depth: str | int | None = None,
    detectors: AnyDetector | Sequence[AnyDetector] | None = None,
    anomalies: str | Sequence[str] | None = None,
    alpha: float | None = None,
    require: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Audit a policy in a simulator: noticed faults, failure rate.

    The command ``offnominal audit``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param budget: Time budget, such as 90s, 30m or 2h; it sets depth and counts [default: 30m]
    :param depth: glance, quick, standard or thorough, with counts such as quick,test=96,failures=368 [default: what
        fits the budget]
    :param detectors: Another detector: id, or table such as '{ id = "knn", k = 3 }'; repeatable
    :param anomalies: Faults in place of those of the depth, comma-separated
    :param alpha: Accepted share of nominal episodes with an alarm [default: 0.05]
    :param require: Requirements such as 'auroc_matched(tiny) >= .8, risk <= 1e-2' (docs/howto/audit.md); else exit code
        1
    :param out: Output folder; an interrupted audit continues there [default: runs/audit]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("audit", locals())


def evaluate(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    robot: str | None = None,
    episodes: int | None = None,
    min_return: float | None = None,
    min_success: float | None = None,
    card: bool = False,
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
    """Measure return and success rate of a policy.

    The command ``offnominal evaluate``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param robot: Address of a real robot: it moves! [default: a simulated robot]
    :param episodes: Number of episodes, 2 to 1000000 [default: 100]
    :param min_return: Least acceptable mean return; exit code 1 if not shown
    :param min_success: Least acceptable success rate; exit code 1 if not shown
    :param card: Also update return and success of the policy's card, with the card's own seed
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
    return one("evaluate", locals())


def compare(
    old: AnyPolicy,
    new: AnyPolicy | None = None,
    more: AnyPolicy | Sequence[AnyPolicy] | None = None,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    env: AnyEnvironment | None = None,
    metric: Literal["failure", "return", "wins", "success", "alarms"] | None = None,
    margin: float | None = None,
    require: Literal["no-worse", "better"] | None = None,
    return_range: tuple[float, float] | None = None,
    monitor: Path | None = None,
    episodes: int | None = None,
    block: int | None = None,
    level: float | None = None,
    out: Path | None = None,
    randomise: str | Sequence[str] | None = None,
    sigma: float | None = None,
    parameter_table: Path | None = None,
    distribution: Path | None = None,
    below: float | None = None,
    stl: str | int | Sequence[str | int] | None = None,
    twin: bool = False,
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
    """Compare policies sequentially: on the same seeds, or by recorded outcomes.

    The command ``offnominal compare``.

    :param old: Current policy, as for `evaluate --policy`; without ``env``, recorded outcomes, or counts (37/50)
    :param new: New policy; none if OLD is a table of several
    :param more: More recorded outcomes, each compared with OLD
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param metric: Deciding metric [default: success if defined, else return]: ``failure``: Failure rate; lower is
        better; ``return``: Mean return; higher is better; ``wins``: Share of pairs with the higher return; ``success``:
        Success rate; higher is better; ``alarms``: Share of episodes with an alarm; lower is better
    :param margin: Tolerated loss of NEW, in the unit of the metric
    :param require: Required verdict on NEW; exit code 1 without it
    :param return_range: Smallest and largest possible return; makes its interval exact
    :param monitor: Monitor file of `fit`; compares alarm rates too
    :param episodes: Most pairs of episodes [default: 2000]; planned trials of recorded outcomes
    :param block: Pairs between two looks [default: 25]
    :param level: Confidence level, valid at every look [default: 0.95]
    :param out: Output folder; an interrupted run continues there
    :param randomise: Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    :param sigma: Their standard deviation, relative to nominal [default: 0.1]
    :param parameter_table: Table with one row of parameters per episode
    :param distribution: Distribution of parameters and initial conditions (docs/howto/risk.md)
    :param below: An episode fails if and only if its return is below R
    :param stl: Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most
        important first
    :param twin: Compare what the anomaly costs, against the nominal twins
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
    return one("compare", locals())


def calibrate(
    env: AnyEnvironment,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    policy: AnyPolicy | None = None,
    anomalies: str | Sequence[str] | None = None,
    episodes: int | None = None,
    budget: int | None = None,
    tolerance: float | None = None,
    precision: float | None = None,
    cameras: bool = False,
    images: int | None = None,
    at: Path | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Find anomaly strengths that cost a policy 1, 10, 25, 50 % of its score.

    The command ``offnominal calibrate``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
        [default: tqc]
    :param anomalies: Anomalies, comma-separated [default: all that apply]
    :param episodes: Nominal episodes, and most episodes per magnitude [default: 300]
    :param budget: Most episodes per anomaly and direction [default: 4000]
    :param tolerance: Target half-width of a score's interval, as share of 1 − target [default: 0.3]
    :param precision: Largest accepted half-width; beyond it the result is `imprecise` [default: 0.75]
    :param cameras: Calibrate camera faults, by structural similarity of the images
    :param images: Width and height of camera images [default: 128]
    :param at: Score the policy at the magnitudes of this table; no search
    :param out: Output folder [default: runs/calibrate]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Accepted number of diverged episodes, which have no outcome [default: 0]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("calibrate", locals())


def collect(
    env: AnyEnvironment,
    policy: AnyPolicy,
    episodes: int,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    robot: str | None = None,
    out: Path | None = None,
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
    progress: bool = True,
) -> Result:
    """Record nominal or anomalous episodes into an Arrow file.

    The command ``offnominal collect``.

    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param episodes: Number of episodes, with twins; a larger number extends a data set
    :param robot: Address of a real robot: it moves! [default: a simulated robot]
    :param out: Output folder [default: runs/collect]
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
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("collect", locals())


def train(
    env: AnyEnvironment,
    *,
    algorithm: str | None = None,
    steps: int | None = None,
    preset: Literal["sap", "mjc", "mjc-small", "pybullet-m", "pybullet-m-small", "cartpole", "pendulum", "pong"] | None = None,
    set_: str | Sequence[str] | None = None,
    demonstrator: AnyPolicy | None = None,
    eval_every: int | None = None,
    history: bool = False,
    checkpoints: int | None = None,
    resume: bool = False,
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
    """Train a policy and write its card.

    The command ``offnominal train``.

    :param env: Environment id (see `list envs`)
    :param algorithm: Learning algorithm (see `list algorithms`) [default: the preset's]
    :param steps: Environment steps [default: the preset's]
    :param preset: Hyperparameters [default: of the environment's family]
    :param set_: Change one hyperparameter, such as gamma=0.98; repeatable
    :param demonstrator: Policy of the demonstrations [default: the environment's scripted one]
    :param eval_every: Steps between evaluations [default: the preset's]
    :param history: Also write the training episodes, for `risk learn`
    :param checkpoints: Also keep this many evenly spaced policies, 1 to 1000
    :param resume: Continue the run in the output folder
    :param out: Output folder [default: runs/train/ENV-ALGORITHM]
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
    return one("train", locals())


def import_(
    library: Literal["sb3", "cleanrl", "rsl-rl"],
    model: Path,
    env: AnyEnvironment,
    *,
    normalize: Path | None = None,
    stack: int | None = None,
    activation: str | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Result:
    """Import a policy of another library.

    The command ``offnominal import``.

    :param library: Library that wrote the policy; no code of it runs
    :param model: File that the library saved
    :param env: Environment with the channels and bounds of the model
    :param normalize: Normalisation: file, or `none` (docs/howto/policies.md) [default: found beside the model]
    :param stack: sb3: frames of `VecFrameStack`
    :param activation: rsl-rl: activation, by its name in torch.nn [default: ELU]
    :param out: Output folder [default: runs/import]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("import", locals())


def ensemble(
    env: AnyEnvironment,
    members: Path | Sequence[Path],
    *,
    out: Path | None = None,
    progress: bool = True,
) -> Result:
    """Combine policies into an ensemble that acts on their mean.

    The command ``offnominal ensemble``.

    :param env: Environment id (see `list envs`)
    :param members: Files of `train`: several seeds, or --checkpoints
    :param out: Output folder [default: runs/ensemble]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("ensemble", locals())


def shift(
    env: AnyEnvironment,
    *,
    policies: Path | None = None,
    toplines: Path | None = None,
    sigma: float | Sequence[float] | None = None,
    bodies: int | None = None,
    steps: int | None = None,
    randomise: str | Sequence[str] | None = None,
    reading: str | int | None = None,
    mass: str | int | None = None,
    fall: str | int | None = None,
    nominal_runs: int | None = None,
    updates: int | None = None,
    detectors: str | Sequence[str] | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Measure and predict the return that policies lose on other bodies.

    The command ``offnominal shift``.

    :param env: Environment: hopper, walker, ant or half-cheetah-m
    :param policies: Policy, or folder or zip of ENV-ALGORITHM-SEED.safetensors [default: shipped]
    :param toplines: Oracle policies trained on such bodies, or toplines.parquet of a run
    :param sigma: Relative standard deviations of the bodies [default: 0.05,0.1,0.2]
    :param bodies: Bodies per standard deviation [default: 200]
    :param steps: Steps per policy and body [default: 10000]
    :param randomise: Drawn quantities: limbs, mass, ground-friction, motor-strength [default: limbs]
    :param reading: Meaning of lengths: true, or paper-literal (published tables) [default: true]
    :param mass: Mass of a body: by-volume or fixed-total [default: by-volume]
    :param fall: Height of the fall test: relative to the body, or absolute [default: relative]
    :param nominal_runs: Nominal runs per policy, from which internal models learn [default: 10]
    :param updates: Gradient steps of the internal models [default: 40000]
    :param detectors: Detectors whose scores are compared with the return gap [default: knn,pe-dm,residual-views]
    :param out: Output folder [default: runs/shift/ENV]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("shift", locals())


def bench(
    campaign: Path | None = None,
    *,
    suite: str | None = None,
    envs: str | Sequence[str] | None = None,
    detectors: str | Sequence[str] | None = None,
    seeds: int | None = None,
    noise: str | None = None,
    strengths: Path | None = None,
    out: Path | None = None,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Run a campaign or suite: detectors against anomalies.

    The command ``offnominal bench``.

    :param campaign: Campaign file with the seed; `demo --show` prints a template
    :param suite: Shipped benchmark: vector, faults, transfer, images or ood-rl
    :param envs: Environments of the suite, comma-separated; others keep their results
    :param detectors: Detectors of the suite, comma-separated; others keep their results
    :param seeds: Most repetitions
    :param noise: Nominal noise for suite `vector`: none, datasheet, rough or a file
    :param strengths: Table or folder of `calibrate` [default: the campaign's, shipped, then runs/calibrate]
    :param out: Output folder [default: runs/bench, or one per suite]
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("bench", locals())


def demo(
    *,
    only: Literal["logs", "environments"] | None = None,
    out: Path | None = None,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """See it work: from recordings to an alarm, then a comparison.

    The command ``offnominal demo``.

    :param only: One part only: ``logs``: Recordings of a car as CSV, and the three commands that lead to an alarm;
        ``environments``: A comparison of detectors in two environments of the engine
    :param out: Output folder [default: runs/demo]
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("demo", locals())


def list_(
    what: Literal["envs", "anomalies", "detectors", "image-detectors", "policies", "algorithms", "metrics", "pixel-methods"],
    *,
    env: AnyEnvironment | None = None,
    progress: bool = True,
) -> Records:
    """List environments, anomalies, detectors, policies and more.

    The command ``offnominal list``.

    :param what: What to list
    :param env: Anomalies of this environment, with dyn-PARAMETER for each parameter
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return several("list", locals())


def report(dir_: Path, *, out: Path | None = None, progress: bool = True) -> Result:
    """Make the page of a results folder again.

    The command ``offnominal report``.

    :param dir_: Results folder of `bench` or `demo`
    :param out: Folder for page and figures [default: DIR itself]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("report", locals())


def metrics(
    file: Path,
    *,
    threshold: float | None = None,
    replicates: int | None = None,
    level: float | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Compute metrics of scores in a CSV file.

    The command ``offnominal metrics``.

    :param file: CSV file with episode, step, score, label, perhaps twin; `-` is standard input
    :param threshold: Alarm threshold; adds delay, missed, early and false alarms
    :param replicates: Bootstrap replicates per interval [default: 1000]
    :param level: Confidence level of the intervals [default: 0.95]
    :param seed: Seed of everything random
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("metrics", locals())


def evidence(
    run: Path | None = None,
    *,
    key: Path | None = None,
    out: Path | None = None,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Put results and inputs into one signed bundle.

    The command ``offnominal evidence``.

    :param key: File of the secret key that signs the bundle
    :param out: The bundle [default: evidence.zip]
    :param run: Folder of a finished `audit`, `bench`, `compare` or `risk estimate`
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("evidence", locals())


def verify(
    bundle: Path,
    *,
    key: str | None = None,
    sample: int | None = None,
    allow_programs: bool = False,
    sample_seed: int | None = None,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Check a bundle: digests, signature, recomputed parts.

    The command ``offnominal verify``.

    :param bundle: Bundle of `evidence`
    :param key: Public key of the signer, as `evidence --new-key` printed it
    :param sample: Parts to recompute: draws, blocks or cells (at most 20) [default: 20]
    :param allow_programs: Run programs that the bundle names: only if you trust it
    :param sample_seed: Seed that chooses the parts [default: from the operating system]
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("verify", locals())


def export(
    to: Literal["minari"],
    dataset: Path,
    id_: str,
    *,
    format_: Literal["hdf5", "arrow"] | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Result:
    """Write a data set in another program's format.

    The command ``offnominal export``.

    :param to: Target program
    :param dataset: Data set of `collect`
    :param id_: Id of the new data set, such as sap/goal1-noise-v0
    :param format_: File format [default: hdf5]
    :param out: Folder for the new data set's own [default: runs/export]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("export", locals())


def render(
    run: Path | None = None,
    *,
    number: int | None = None,
    sheet: Path | None = None,
    view: Literal["camera", "observation"] | None = None,
    step: int | None = None,
    columns: int | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    camera: str | None = None,
    frames: Literal["few", "all"] | None = None,
    classes: bool = False,
    out: Path | None = None,
    anomaly: str | None = None,
    deviations: bool = False,
    strength: str | None = None,
    strengths: Path | None = None,
    channels: str | Sequence[str | int] | None = None,
    onset: str | int | None = None,
    window: int | None = None,
    intermittent: tuple[int, int] | None = None,
    env: AnyEnvironment | None = None,
    policy: AnyPolicy | None = None,
    magnitude: float | None = None,
    size: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Write images and video of an episode or a found failure, or a sheet.

    The command ``offnominal render``.

    :param run: Folder of `risk estimate` or `risk stress`: render one of its failures
    :param number: Number of the failure, as its report names it [default: 0]
    :param sheet: Draw one frame per ``env``, ``anomaly`` and ``strength`` (lists) into one picture
    :param view: Sheet: what to show [default: camera]
    :param step: Sheet: step to show; 0 is before the first action [default: 10]
    :param columns: Sheet: frames per row [default: 5, or one row per anomaly]
    :param failure: Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    :param failure_margin: Gymnasium: number in `info` that is zero at failure
    :param camera: Camera [default: the first]
    :param frames: States to write as PNG: first, middle and last, or all [default: few]
    :param classes: Also write a class mask per PNG
    :param out: Output folder; by default a failure lies within RUN [default: runs/render]
    :param anomaly: Anomaly id (see `list anomalies`), or several at once: `ID=M+ID=M` [default: none]
    :param deviations: The magnitude counts in nominal standard deviations of each channel
    :param strength: Calibrated strength: tiny, medium, strong or extreme
    :param strengths: Table or folder of `calibrate` [default: shipped, then runs/calibrate]
    :param channels: Disturbed channels by name or index, or `one` at random [default: all]
    :param onset: First anomalous step, or `random` [default: random]
    :param window: Steps until the anomaly ends [default: to the end]
    :param intermittent: Repeat: ON steps with, OFF steps without the anomaly
    :param env: Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param magnitude: Strength in the anomaly's own unit
    :param size: Width and height in pixels [default: 256]
    :param seed: Seed of everything random
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("render", locals())


def doctor(*, progress: bool = True) -> Result:
    """Tell what works on this machine, and what to install for the rest.

    The command ``offnominal doctor``.

    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("doctor", locals())
