"""Makes closed-loop recordings of the Tennessee Eastman process, one Parquet file a run.

The plant is the modified process of tep-studio (Bathelt, Ricker and Jelali 2015) in mode 1 under Ricker's controllers.
Times are hours. A run is `WARM_UP` hours that are not recorded, then `HOURS` of which a row is kept every `SAMPLE`.
The plant is integrated by Euler's rule with steps of `STEP` and controlled every `CONTROL`.
A fault (IDV 1 to 28) acts from `ONSET` to the end; a plant that shuts itself down ends its recording.

    python tep.py simulate --out DIR
    python tep.py check
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import tep_plant
from tep_plant import CONTROL, SAMPLE, STEP
from tep_studio import (
    ClosedLoopSimulation,
    RickerMultiLoopController,
    TennesseeEastmanProcess,
    list_manipulated_variables,
    list_measurements,
)
from tep_studio.simulation.modes import mode_setpoints

WARM_UP, HOURS, ONSET = 2.0, 33.0, 8.0
FIRST, FROM, LAST = (round(hours / CONTROL) for hours in (WARM_UP, WARM_UP + ONSET, WARM_UP + HOURS))
FAULTS = range(1, 29)
NOMINAL_RUNS, TUNING_SEEDS, TEST_SEEDS, FRESH_SEEDS = 500, range(101, 106), range(1, 21), range(41, 61)

MEASURED = [f"xmeas{i + 1:02}_{name}" for i, (name, _, _) in enumerate(list_measurements())]
MOVED = [f"xmv{i + 1:02}_{name}" for i, (name, _, _) in enumerate(list_manipulated_variables())]


class Run(NamedTuple):
    """What is simulated: the number of a fault, 0 for none, and a seed."""

    fault: int
    seed: int

    @property
    def name(self) -> str:
        """Gives the name of the file."""
        return f"idv{self.fault:02}-{self.seed:03}.parquet"

    def noise_seed(self) -> float:
        """Draws the odd 32-bit number from which the plant's own generator starts."""
        return float(np.random.default_rng([self.fault, self.seed]).integers(2**31) * 2 + 1)

    def rows(self) -> np.ndarray:
        """Simulates: an hour, 41 measurements and 12 valves a row, until the plant shuts down."""
        return tep_plant.simulate(self.noise_seed(), self.fault, FROM, FIRST, LAST)


def record(run: Run, folder: Path) -> None:
    """Simulates one run and writes it, unless its file is there."""
    path = folder / run.name
    if not path.exists():
        table = pd.DataFrame(run.rows(), columns=["hour", *MEASURED, *MOVED])
        table.to_parquet(path.with_suffix(".part"), compression="zstd")
        path.with_suffix(".part").rename(path)


def plan() -> list[Run]:
    """Lists all runs: nominal ones, then faults for the choice of settings, for the test, and for a second test."""
    nominal = [Run(0, seed) for seed in range(1, NOMINAL_RUNS + 1)]
    tuning = [Run(fault, seed) for seed in TUNING_SEEDS for fault in FAULTS]
    return nominal + tuning + [Run(fault, seed) for seed in [*TEST_SEEDS, *FRESH_SEEDS] for fault in FAULTS]


def simulate(folder: Path, runs: list[Run]) -> None:
    """Makes the recordings that are missing and says how long it took."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.process_time()
    for done, run in enumerate(runs, start=1):
        record(run, folder)
        if done % 100 == 0:
            print(f"{done} of {len(runs)} runs, {time.process_time() - begun:.0f} s of processor time", flush=True)


def by_the_package(run: Run) -> np.ndarray:
    """Simulates the measurements of a run by tep-studio's own loop."""

    def faults(hour: float) -> np.ndarray:
        return np.eye(28)[run.fault - 1] * (run.fault > 0 and hour > WARM_UP + ONSET - CONTROL / 2)

    plant = TennesseeEastmanProcess(solver_method="Euler", fixed_step=STEP)
    controller = RickerMultiLoopController(setpoints=mode_setpoints("mode1"))
    loop = ClosedLoopSimulation(
        simulator=plant, controller=controller, control_interval=CONTROL, horizon=WARM_UP + HOURS
    )
    results = loop.run(seed=run.noise_seed(), disturbance_schedule=faults).results
    every, first = round(SAMPLE / CONTROL), FIRST - 1
    return np.array([result.measurements for result in results[first:-1:every]])


def check() -> None:
    """Compares runs with those of the package's own loop."""
    for run in (Run(0, 1), Run(4, 1), Run(6, 1), Run(8, 1), Run(14, 1)):
        ours, theirs = run.rows()[:, 1:42], by_the_package(run)
        apart = np.abs(ours[: len(theirs)] - theirs[: len(ours)]) / theirs.std(axis=0)
        print(run.name, len(ours), len(theirs), f"at most {apart.max():.1e} standard deviations apart", flush=True)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["simulate", "check"])
    parser.add_argument("--out", type=Path, default=Path("runs/tep"), help="folder of the recordings")
    arguments = parser.parse_args()
    if arguments.action == "check":
        check()
    else:
        simulate(arguments.out, plan())


if __name__ == "__main__":
    main()
