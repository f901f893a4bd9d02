"""How an audit chooses the detector, tried on the published tables of the vector benchmark.

    python studies/vector/choice.py

The rule of `offnominal audit`: of the detectors that it tries, take the one that finds most within 20 steps (threshold
`conformal`). Each class of faults of an environment is left out, the others choose, and the class that was left out judges.
Beside it stands a rule that keeps the default unless such a choice among the other classes gains something. Reads
studies/vector/*.parquet and prints a table of shares found, means over ten environments with the interval of Student's t of
the difference to the default. Needs pandas, pyarrow and scipy.
"""

import pathlib
import statistics
from collections.abc import Callable

import pandas
from scipy import stats

Rule = Callable[[pandas.DataFrame, list[str]], str]

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT = "panel"
# The detectors of an audit at depth `thorough`, and at `quick` and `standard`.
SETS = {
    "thorough": ["knn", "isolation-forest", "mlp-dm", "pe-dm", "multistep-dm", "mewma", "residual-window", "e-process",
                 "residual-views", "panel"],
    "quick": ["knn", "mlp-dm", "pe-dm", "mewma", "residual-window", "panel"],
}  # fmt: skip


def read() -> pandas.DataFrame:
    """Share found of each fault, mean over strengths, by environment, class and detector."""
    files = [file for file in sorted(HERE.glob("*.parquet")) if "diagnosis" not in file.name]
    rows = pandas.concat([pandas.read_parquet(file) for file in files])
    rows = rows[(rows.metric == "d20") & (rows.threshold == "conformal") & (rows.anomaly_class != "none")]
    return rows.groupby(["env", "anomaly_class", "anomaly", "detector"], as_index=False).value.mean().dropna()


def found(rows: pandas.DataFrame, detector: str) -> float:
    """Mean over faults."""
    return rows[rows.detector == detector].value.mean()


def best(rows: pandas.DataFrame, detectors: list[str]) -> str:
    """The detector that finds most; the default one where none finds more."""
    return max([DEFAULT, *detectors], key=lambda detector: (found(rows, detector), detector == DEFAULT))


def careful(rows: pandas.DataFrame, detectors: list[str]) -> str:
    """The default, unless those that other classes choose find more than it."""
    gains = []
    for name, part in rows.groupby("anomaly_class"):
        chosen = best(rows[rows.anomaly_class != name], detectors)
        faults = part.pivot_table(index="anomaly", columns="detector", values="value")
        gains += list(faults[chosen] - faults[DEFAULT])
    return best(rows, detectors) if statistics.fmean(gains) > 0 else DEFAULT


def judged(rows: pandas.DataFrame, detectors: list[str], rule: Rule) -> float:
    """Share found of each class by the detector that the other classes chose, mean over faults."""
    found_of = []
    for name, part in rows.groupby("anomaly_class"):
        chosen = rule(rows[rows.anomaly_class != name], detectors)
        found_of += list(part[part.detector == chosen].value)
    return statistics.fmean(found_of)


def interval(values: list[float]) -> str:
    """The mean with the interval of Student's t."""
    mean = statistics.fmean(values)
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def main() -> None:
    """Prints the table."""
    rows = read()
    envs = [part for _, part in rows.groupby("env")]
    base = [found(env, DEFAULT) for env in envs]
    print("| detectors | chosen | found in 20 steps | minus the default |\n|---|---|---|---|")
    print(f"| | {DEFAULT} | {statistics.fmean(base):.3f} | |")
    for name, detectors in SETS.items():
        shares = {
            "the best on other classes": [judged(env, detectors, best) for env in envs],
            "the same, unless it gains nothing there": [judged(env, detectors, careful) for env in envs],
            "the best, in hindsight": [found(env, best(env, detectors)) for env in envs],
        }
        for chosen, values in shares.items():
            gaps = [a - b for a, b in zip(values, base, strict=True)]
            print(f"| {name} | {chosen} | {statistics.fmean(values):.3f} | {interval(gaps)} |")


if __name__ == "__main__":
    main()
