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
    "sheet",
    "shift",
    "train",
    "verify",
]


def inspect(
    logs: Path | Sequence[Path],
    *,
    map_: Path | None = None,
    page: Path | None = None,
    jobs: int = 0,
    strict: bool = False,
    progress: bool = True,
) -> Result:
    """Describe logs of any format, and propose which column is what.

    The command ``offnominal inspect``.

    :param logs: Logs that are alike: files or folders; CSV, JSON lines, Parquet, Arrow, HDF5, Minari, LeRobot v3, MCAP,
        rosbag2 or ULog, also compressed (gz, zst, lz4)
    :param map_: The proposed mapping to write, for you to edit; without it, it is printed only
    :param page: A page to write, with a picture of each channel
    :param jobs: Worker threads; 0 for all cores
    :param strict: End with an error where a part of a log cannot be read
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("inspect", locals())


def fit(
    file: Path,
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
    env: AnyEnvironment | None = None,
    policy: AnyPolicy | None = None,
    logs: Path | Sequence[Path] | None = None,
    map_: Path | None = None,
    by_task: bool = False,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    strict: bool = False,
    progress: bool = True,
) -> Result:
    """Fit a detector on nominal logs or episodes, and set its alarm threshold on others.

    The command ``offnominal fit``.

    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param data: Nominal episodes written by `collect`, instead of new ones
    :param faults: Faults of each kind that are played in the environment, so that a diagnosis can name a fault, such as
        a parameter of the dynamics, with its magnitude; 0 for none [default: 60 in environments of this program, 0 in
        others]
    :param detector: Detector id (see `list detectors`; `default` is `residual-views`), or a table such as `{ id =
        "knn", k = 3 }` [default: default]
    :param train: Episodes that the detector learns from [default: 100; of files, those that are not for calibration]
    :param calibration: Episodes that set the threshold, which the detector does not see [default: 100; of files, the
        last half]
    :param rule: How the threshold is set: 3sigma, q95, max, conformal, band, cusum, martingale or run-length [default:
        conformal]
    :param alpha: Accepted share of nominal episodes with an alarm, for the rules that promise one [default: 0.05]
    :param confidence: Promise that share with this confidence, in the calibration set at hand, and not on average over
        calibration sets; it needs more episodes: 59 in place of 19 for an alpha of 0.05 and a confidence of 0.95
    :param run_length: For the rule run-length, which is for streams without episodes: how far apart false alarms are at
        least, on average: a number of steps, or a time such as 30m, 10h or 7d
    :param block: For the same rule: steps of a block [default: five times as long as scores depend on one another]
    :param monitors: Number of monitors that share the promise, such as those of a fleet: each gets its part
        (Bonferroni) [default: 1]
    :param arm_after: Steps at the beginning of an episode in which no alarm is raised [default: 0]
    :param raise_after: Exceedances in a row that raise the alarm [default: 1]
    :param clear_after: Quiet steps in a row that clear the alarm; without it the alarm stays until the next episode
    :param diagnosis: Whether the file is to hold what a diagnosis needs; it takes as long to fit as `ensemble-dm`
        [default: true]
    :param lost_after: Steps in a row that a number may be missing before its sensor counts as lost [default: the 95th
        percentile of the longest gap per calibration episode, at least 10]
    :param file: The file to write
    :param recalibrate: Fit nothing: take this monitor, and let its threshold follow the logs or the episodes of
        ``data``, which are nominal and later than those of its fit
    :param memory: With ``recalibrate``: last episodes that set the threshold; at least as many as its promise needs are
        taken [default: 50]
    :param tolerance: With ``recalibrate``: how far the threshold may rise, in units of the distance from the median
        episode of the fit to its threshold [default: 3]
    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param logs: Logs of nominal recordings (see `inspect` for their formats), instead of an environment and a policy
    :param map_: Which column of the logs is what; without it, what `inspect` proposes
    :param by_task: Give each task that the mapping tells apart a threshold of its own, set by its own recordings; tasks
        with too few of them share one
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
    :param strict: End with an error where a part of a log cannot be read
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("fit", locals())


def score(
    monitor: Path,
    *,
    logs: Path | Sequence[Path] | None = None,
    map_: Path | None = None,
    report: Path | None = None,
    alarms: Path | None = None,
    detectors: AnyDetector | Sequence[AnyDetector] | None = None,
    rule: str | None = None,
    alpha: float | None = None,
    table: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    strict: bool = False,
    progress: bool = True,
) -> Result | Records:
    """Score logs or episodes with a fitted detector, and report its alarms.

    The command ``offnominal score``.

    :param monitor: File written by `fit`; or the folder of an environment as Anomaly-Gym publishes it, with the splits
        train, val, test and ANOMALY_STRENGTH: detectors are fitted on the first two and judged on the others
    :param logs: Logs, if there is a mapping; else one file of episodes written by `collect`, of the same environment
    :param map_: Which column of the logs is which channel of the monitor; else the mapping of the fit
    :param report: A page to write, with each alarm and the channels around it; for logs
    :param alarms: A table of the alarms to write; for logs
    :param detectors: For a folder: a detector (see `list detectors`), or a table such as `{ id = "knn", k = 3 }`; may
        be given several times [default: default]
    :param rule: For a folder: how thresholds are set, as for `fit` [default: conformal]
    :param alpha: For a folder: accepted share of nominal episodes with an alarm, as for `fit` [default: 0.05]
    :param table: For a folder: a table of all numbers to write, as CSV or Parquet
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param strict: End with an error where a part of a log cannot be read
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
    depth: Literal["glance", "quick", "standard", "thorough"] | None = None,
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
    """Audit a policy in a simulator: which faults are noticed, how often it fails.

    The command ``offnominal audit``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param budget: Time that it may take, such as 90s, 30m or 2h; it chooses the depth [default: 30m]
    :param depth: How much is done, whatever it takes [default: the most that fits the budget]: ``glance``: Five faults
        at two strengths, for environments that take half a second for an episode; ``quick``: Nine faults at two
        strengths; ``standard``: The twelve faults of signals and four parameters, at all four strengths; ``thorough``:
        Every fault that applies, at all four strengths, with the numbers of episodes of the benchmark
    :param detectors: A detector beside those of the depth: an id, or a table such as '{ id = "knn", k = 3 }'; may be
        repeated
    :param anomalies: Faults (see `list anomalies`) in place of those of the depth, with commas between
    :param alpha: Accepted share of nominal episodes with an alarm [default: 0.05]
    :param require: What must hold, each with its whole interval; else the exit code is 1. Measures: auroc_matched,
        detection_rate (both also at a strength, as in `auroc_matched(tiny) >= .8`), false_alarm_rate, risk, success,
        return
    :param out: Folder of everything that is written; an audit that was stopped goes on there [default: runs/audit]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
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
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    allow_diverged: int | None = None,
    progress: bool = True,
) -> Result:
    """Measure return and success rate of a policy, with intervals.

    The command ``offnominal evaluate``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param robot: Address of the robot, for environments of robots; it moves! [default: a simulated robot]
    :param episodes: Number of episodes, 2 to 1000000 [default: 100]
    :param min_return: Least acceptable mean return: if the lower end of its interval is below it, the exit code is 1
    :param min_success: Least acceptable success rate: if the lower end of its interval is below it, the exit code is 1
    :param card: Also write the numbers into the card beside the policy's file; the episodes are then those of the
        card's own seed
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
    return one("evaluate", locals())


def compare(
    old: AnyPolicy,
    new: AnyPolicy,
    env: AnyEnvironment,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
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
    stl: str | int | None = None,
    twin: bool = False,
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
    """Compare two policies on the same seeds until one is clearly better or worse.

    The command ``offnominal compare``.

    :param old: The policy that is in use, as for `evaluate --policy`
    :param new: The policy that is to take its place
    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param metric: What decides [default: success where the environment defines it, else return]: ``failure``: Share of
        episodes that fail; fewer is better; ``return``: Mean return; more is better; ``wins``: Share of pairs in which
        the return of one policy is larger than that of the other, by however little; ``success``: Share of episodes
        that succeed; more is better; ``alarms``: Share of episodes in which the monitor raises an alarm; fewer is
        better
    :param margin: How much worse NEW may be, in the unit of the metric; then `no worse than the margin` is a verdict
        too
    :param require: What must be shown of NEW: if it is not, or another exact interval says that NEW is worse, the exit
        code is 1, as it always is where NEW is worse by the metric: ``no-worse``: That it is no worse than the margin,
        or better; ``better``: That it is better
    :param return_range: Smallest and largest possible return, which make its interval exact
    :param monitor: A monitor's file, as `fit` writes it: the share of episodes in which it raises an alarm is compared
        too
    :param episodes: Pairs after which it ends, decided or not; a run in the output folder is continued to so many
        [default: 2000]
    :param block: Pairs between two looks [default: 25]
    :param level: Confidence level of each interval, which holds at every number of pairs [default: 0.95]
    :param out: Folder for everything that is written; a run that was interrupted is continued there
    :param randomise: Draw these parameters for each episode, around their nominal values; `limbs` for all sizes of a
        body, `NAME=S` for a standard deviation S
    :param sigma: Their standard deviation, relative to the nominal values [default: 0.1]
    :param parameter_table: Take the parameters of each episode from a row of this table
    :param distribution: Draw parameters and initial conditions from this file (docs/risk.md)
    :param below: An episode fails if and only if its return is below this
    :param stl: An episode also fails if it breaks this formula of signal temporal logic, such as 'always[0, 5] (speed <
        3)', times in seconds
    :param twin: Play the nominal twin of each anomalous episode too, and compare what the anomaly costs either policy
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
    """Find how strong each anomaly must be to cost a policy 1, 10, 25 and 50 % of its score.

    The command ``offnominal calibrate``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random` [default: tqc]
    :param anomalies: Anomalies to calibrate, with commas between [default: all that apply to the environment]
    :param episodes: Nominal episodes, and the most that are played at one magnitude [default: 300]
    :param budget: Most episodes for one anomaly in one direction [default: 4000]
    :param tolerance: Half-width aimed at for a score's 95 % interval, as a share of 1 − target [default: 0.3]
    :param precision: Half-width of that interval up to which a magnitude is used, as a share of 1 − target; else it is
        `imprecise` [default: 0.75]
    :param cameras: The camera faults instead, by what they leave of the images' structural similarity to clean ones
    :param images: Width and height of the camera's images [default: 128]
    :param at: Search nothing: score the policy at the magnitudes of a table, in ```episodes``` episodes each
    :param out: Folder for everything that is written [default: runs/calibrate]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param allow_diverged: Episodes that may diverge, and so have no outcome [default: 0]
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
    """Play episodes, nominal or anomalous with their twins, into one Arrow file.

    The command ``offnominal collect``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param episodes: Number of episodes; with an anomaly each is followed by its nominal twin. A dataset that is there
        already is extended to so many, with the same bits as if it had been made at once; it is never replaced
    :param robot: Address of the robot, for environments of robots; it moves! [default: a simulated robot]
    :param out: Folder for everything that is written [default: runs/collect]
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
    stl: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Train a policy, and write it with a card that says how good it is.

    The command ``offnominal train``.

    :param env: Environment id (see `list envs`)
    :param algorithm: Learning algorithm (see `list algorithms`) [default: the preset's]
    :param steps: Steps in the environment [default: the preset's]
    :param preset: Recipe to start from [default: that of the environment's family]
    :param set_: Change one option of the recipe, such as gamma=0.98; may be repeated
    :param demonstrator: Policy that plays the demonstrations of the recipe [default: the environment's scripted one]
    :param eval_every: Steps between evaluations [default: the preset's]
    :param history: Also write what became of each training episode: where it began, when, how noisily, and whether it
        failed
    :param checkpoints: Also keep the policy at so many evenly spaced steps, 1 to 1000
    :param resume: Continue the run in the output folder; checkpoints are written at each evaluation and every two
        minutes
    :param out: Folder for everything that is written [default: runs/train/ENV-ALGORITHM]
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
    """Take over a policy of another program.

    The command ``offnominal import``.

    :param library: The library that wrote the policy; nothing in the file is executed: ``sb3``: Stable-Baselines3 or
        sb3-contrib: what `model.save` wrote; ``cleanrl``: CleanRL: a state dictionary; ``rsl-rl``: RSL-RL: `model_N.pt`
    :param model: What the library saved: `model.save`, the script of CleanRL, or the runner of RSL-RL
    :param env: Environment in which it is to act (see `list envs`); its channels and bounds must be those of the model
    :param normalize: How observations were normalised. Of sb3 what `VecNormalize.save` wrote [default: the file beside
        the model that has its name or is called vec_normalize.pkl or vecnormalize.pkl]; of cleanrl a .npz with `mean`
        and `var`; `none` if they were not
    :param stack: Of sb3: frames that `VecFrameStack` stacked
    :param activation: Of rsl-rl: the function between its layers, by its name in torch.nn [default: ELU]
    :param out: Folder for the policy [default: runs/import]
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
    """Make one policy of several: it acts on their mean, and they can disagree.

    The command ``offnominal ensemble``.

    :param env: Environment id (see `list envs`)
    :param members: Files written by `train`, with different seeds or, by `--checkpoints`, at different steps
    :param out: Folder for the policy [default: runs/ensemble]
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
    """Measure how much return policies lose on other bodies, and predict it.

    The command ``offnominal shift``.

    :param env: Environment: hopper, walker, ant, half-cheetah-m
    :param policies: Folder or zip archive with policies named ENV-ALGORITHM-SEED.safetensors, or one policy [default:
        the shipped ones]
    :param toplines: Policies that were trained on such bodies (`train --parameter-table`), or toplines.parquet of
        another run, for figure 5
    :param sigma: Spreads of the bodies, relative to the nominal one [default: 0.05,0.1,0.2]
    :param bodies: Bodies of each spread [default: 200]
    :param steps: Steps of each policy on each body [default: 10000]
    :param randomise: What is drawn: limbs, mass, ground-friction, motor-strength [default: limbs]
    :param reading: What the numbers of lengths mean: true, or paper-literal (the publication's tables as they stand)
        [default: true]
    :param mass: What becomes of the mass: by-volume, or fixed-total [default: by-volume]
    :param fall: What the fall test compares with: relative (the body's own height) or absolute (the nominal body's)
        [default: relative]
    :param nominal_runs: Runs of each policy on the nominal body from which the internal models learn [default: 10]
    :param updates: Gradient steps of the internal models [default: 40000]
    :param detectors: Detectors whose scores are set against the return gap [default: knn,pe-dm,residual-views]
    :param out: Folder for everything that is written [default: runs/shift/ENV]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("shift", locals())


def bench(
    *,
    campaign: Path | None = None,
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
    """Run a campaign or a suite: detectors against anomalies, with tables and a report.

    The command ``offnominal bench``.

    :param campaign: Campaign file, which holds the seed; `demo --show` prints one to begin with
    :param suite: Run a benchmark that travels with this program, environment by environment: `vector`, `faults`,
        `transfer` or `images`, or `ood-rl`, which has one policy after the other
    :param envs: Run these environments of the suite only, with commas between; the others keep what they have
    :param detectors: Ask these detectors of the suite only, with commas between; results of others that are there stay,
        if nothing else of the suite has changed
    :param seeds: Repetitions at most, if fewer than the suite says
    :param noise: Run the suite `vector` with nominal noise of sensors and actuators, which is a part of nominal
        episodes too: `none`, `datasheet`, `rough`, or a file; results go to a folder of that name within ``out``
    :param strengths: The table that `calibrate` wrote, or its folder, in which strengths are looked for [default: what
        the campaign names, else those of this program, then runs/calibrate]
    :param out: Folder for everything that is written [default: runs/bench, or one for the suite]
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
    """See it work: from recordings to an alarm; then policies, anomalies, a report.

    The command ``offnominal demo``.

    :param only: One part only: ``logs``: Recordings of a car as CSV, and the three commands that lead to an alarm;
        ``environments``: A comparison of detectors in two environments of the engine
    :param out: Folder for everything that is written [default: runs/demo]
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
    """List environments, anomalies, detectors, policies, algorithms, metrics.

    The command ``offnominal list``.

    :param what: What is listed: ``envs``: Environments; ``anomalies``: Anomalies: what applies to every environment, or
        all of one environment; ``detectors``: Detectors; ``image-detectors``: Image detectors, for campaigns with
        `images`; ``policies``: Policies that come with the program; ``algorithms``: Learning algorithms, with the
        options that not all of them have; ``metrics``: Metrics of the result tables; ``pixel-methods``: Scores of
        pixels
    :param env: Of anomalies: those that apply to this environment, with dyn-<parameter> for each of its parameters
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return several("list", locals())


def report(dir_: Path, *, out: Path | None = None, progress: bool = True) -> Result:
    """Make the page of a results folder again.

    The command ``offnominal report``.

    :param dir_: Folder with results.json and results.csv, as `bench` and `demo` write them
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
    """Compute metrics of scores in a CSV file, with intervals.

    The command ``offnominal metrics``.

    :param file: CSV file with the columns episode, step, score, label (0 or 1, or False or True) in any order; `-`
        reads standard input
    :param threshold: Alarms are scores above this; adds delays, missed, early and false alarms
    :param replicates: Bootstrap replicates of each interval, 100 to 100000 [default: 1000]
    :param level: Confidence level of the intervals, between 0 and 1 [default: 0.95]
    :param seed: Seed of everything random
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("metrics", locals())


def evidence(
    *,
    key: Path | None = None,
    out: Path | None = None,
    run: Path | None = None,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Put results and their inputs into one signed file that somebody else can check.

    The command ``offnominal evidence``.

    :param key: The file of a secret key, by which the bundle is signed
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
    """Check such a file: digests, signature, and parts of the work done again.

    The command ``offnominal verify``.

    :param bundle: The bundle that `evidence` wrote
    :param key: The public key that must have signed it, as `evidence --new-key` printed it
    :param sample: How many parts are done once more: draws of an estimate, blocks of roots, or cells (at most 20)
        [default: 20]
    :param allow_programs: Run programs, modules of Python and hosted environments that the bundle names: only if you
        trust who made it
    :param sample_seed: The seed by which parts are drawn [default: from the operating system]
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
    """Write a data set in the format of another program.

    The command ``offnominal export``.

    :param to: The other program
    :param dataset: Dataset written by `collect`
    :param id_: Id of the new dataset, such as sap/goal1-noise-v0
    :param format_: How the episodes are stored [default: hdf5]: ``hdf5``: One HDF5 file; ``arrow``: One Arrow file per
        episode; at most 131,071 steps each
    :param out: Folder in which the dataset's own is made [default: runs/export]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("export", locals())


def render(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    failure: str | None = None,
    failure_margin: str | None = None,
    size: int | None = None,
    camera: str | None = None,
    frames: Literal["few", "all"] | None = None,
    classes: bool = False,
    out: Path | None = None,
    anomaly: str | None = None,
    magnitude: float | None = None,
    strength: str | None = None,
    strengths: Path | None = None,
    channels: str | Sequence[str | int] | None = None,
    onset: str | int | None = None,
    window: int | None = None,
    intermittent: tuple[int, int] | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Write images, class masks and a video of one episode.

    The command ``offnominal render``.

    :param env: Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID`
    :param failure: What fails in an environment of Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or
        `return<R` (docs/foreign.md)
    :param failure_margin: Number of its `info` that tells how far a state is from failure, which is at zero
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param size: Width and height of the images in pixels [default: 256]
    :param camera: Name of the camera [default: the environment's first]
    :param frames: Which states of the episode become PNG files [default: few]: ``few``: The first, the middle and the
        last; ``all``: Every one
    :param classes: Also write the class mask of each PNG; its pixel values are the class ids
    :param out: Folder for everything that is written [default: runs/render]
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
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("render", locals())


def sheet(
    envs: str | Sequence[str],
    *,
    policy: AnyPolicy | None = None,
    view: Literal["camera", "observation"] | None = None,
    camera: str | None = None,
    anomalies: str | Sequence[str] | None = None,
    magnitudes: float | Sequence[float] | None = None,
    strengths: str | Sequence[str] | None = None,
    step: int | None = None,
    size: int | None = None,
    columns: int | None = None,
    file: Path | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Draw many frames with their names in one picture.

    The command ``offnominal sheet``.

    :param envs: Environment ids (see `list envs`), one frame for each
    :param policy: The policy that acts in each, as for `render` [default: random]
    :param view: What is shown of a state [default: camera]: ``camera``: What a camera sees; ``observation``: The newest
        image of the observation, where it is one
    :param camera: Name of the camera [default: the environment's first]
    :param anomalies: Anomalies (see `list anomalies ``envs```) or patterns such as cam-*, shown beside the nominal
        frame; each begins with the first step
    :param magnitudes: How strong, in the anomaly's own unit; several make a row for each anomaly
    :param strengths: How strong, as calibrated levels: tiny, medium, strong or extreme; several make a row for each
        anomaly
    :param step: The state that is shown; 0 is the first, before any step [default: 10]
    :param size: Width and height of a camera's frame in pixels [default: 128]
    :param columns: Frames in a row [default: 5, or as many as a row for each anomaly needs]
    :param file: The PNG file [default: runs/sheet.png]
    :param seed: Seed of everything random
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("sheet", locals())
