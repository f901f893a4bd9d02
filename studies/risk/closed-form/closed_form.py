"""What samplers gain over counting where the failure probability is known, with OpenTURNS on the same limit states.

    python studies/risk/closed-form/closed_form.py [SEEDS SEEDS_OF_PROGRAM]

Runs `cargo run --release -p studies -- risk-closed-form SEEDS`; the program `offnominal` on a cart-pole whose formula is a
plane in four normal numbers or the series system in two, and on the environment of Gymnasium in textbook.py with the same; and
OpenTURNS. Writes results.csv, a row for each limit state and method, and prints the table. Without seeds it prints the table of
the file.

The gain is (1 − p) / p / (experiments × mean squared relative error): how many times more experiments counting needs. Its
interval is that of a chi-squared number with as many degrees of freedom as there are runs. `held` is the share of runs whose
interval contains the truth or that refuse; `width` is that of the interval that assumes nothing, over the expected width of
Clopper and Pearson's interval of as many plain experiments; of importance sampling it is expected too, of others the mean.
Needs scipy and openturns; `offnominal` must be on the path.
"""

import csv
import io
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])}
OUT = HERE / "results.csv"
COLUMNS = ["case", "method", "p", "runs", "refused", "experiments", "bias", "gain", "gain_low", "gain_high", "held", "width"]
TRUTH = {
    "plane, d = 2": 1e-4,
    "plane, d = 4": 1e-4,
    "plane, d = 100": 1e-4,
    "series": 2.222795e-3,
    "series, far": 1e-5,
    "apart": 1 - (1 - 0.9e-4) * (1 - 1e-5),
    "cartpole, plane": 1e-4,
    "cartpole, series": 2.222795e-3,
    "hosted, plane": 1e-4,
    "hosted, series": 2.222795e-3,
}
PLANE = 3.719016485
#: Environments of the program, whose first states are normal numbers, and what observations call these.
ENVIRONMENTS = {
    "cartpole": ("cartpole", {"x": 0.01, "x_velocity": 0.01, "theta": 0.01, "theta_velocity": 0.001}, "{}"),
    "hosted": ("gymnasium:textbook:Numbers", {f"z{i}": 1.0 for i in range(4)}, "o{1}"),
}
#: What has to be 0 in the cart-pole, so that nothing moves it.
STILL = {"cartpole": ["gravity", "force"], "hosted": []}
METHODS = [["split"], *(["estimate", "--episodes", "6000", "--method", method] for method in ("importance", "adaptive"))]
#: Share of importance sampling that is plain by default.
PLAIN_SHARE = 0.92


def own(seeds: int) -> list[dict]:
    """Runs of the library."""
    command = ["cargo", "run", "--release", "-q", "-p", "studies", "--", "risk-closed-form", str(seeds)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row["method"] += f", {row['experiments']}" if row["method"] == "importance" else ""
        row.update({k: float(v) if v else None for k, v in row.items() if k not in ("case", "method")})
    return rows


def program(seeds: int) -> list[dict]:
    """Runs of the program on environments that fail by their first state."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in itertools.product(ENVIRONMENTS, range(seeds)):
            env, deviations, observed = ENVIRONMENTS[name]
            file = pathlib.Path(folder) / f"{name}.toml"
            text = "".join(f'[draw.{k}]\ndistribution = "normal"\nmean = 0.0\nsd = {sd}\n' for k, sd in deviations.items())
            text += "".join(f'[draw.{k}]\ndistribution = "empirical"\nvalues = [0.0]\n' for k in STILL[name])
            file.write_text(text)
            z = [f"{observed.format(k, i)}/{sd}" for i, (k, sd) in enumerate(deviations.items())]
            for (case, formula), words in itertools.product(formulas(z).items(), METHODS):
                command = ["offnominal", "risk", *words, "--env", env, "--policy", "random", "--distribution", str(file)]
                command += ["--stl", formula, "--seed", str(seed), "--jobs", "1", "--json", "--quiet"]
                run = subprocess.run([*command, "--out", f"{folder}/{len(rows)}"], capture_output=True, text=True, env=ENV)
                rows.append(row(f"{name}, {case}", words, seed, json.loads(run.stdout) if run.stdout else None))
    return rows


def formulas(z: list[str]) -> dict[str, str]:
    """A plane in all numbers, and the series system in the first two, as requirements."""
    total, gap = f"({z[0]} + {z[1]})", f"({z[0]} - {z[1]})"
    series = f"min(3 + 0.1*{gap}*{gap} - abs({total})/{math.sqrt(2)}, {7 / math.sqrt(2)} - abs({gap})) > 0"
    return {"plane": f"{' + '.join(z)} < {2 * PLANE}", "series": series}


def row(case: str, words: list[str], seed: int, found: dict | None) -> dict:
    """A run of the program: its estimate, under an assumption if it is by importance sampling, and the one that assumes nothing."""
    same = {"case": case, "method": f"offnominal risk {' '.join(words)}", "seed": seed}
    if found is None:
        return {**same, "experiments": None, "value": None}
    if words[0] == "split":
        risk = found["risk"]
        return {**same, "experiments": risk["n"], **{k: risk[k] for k in ("value", "low", "high")}}
    counted = found["risk"]["risk"]
    told = (found["others"][0]["risk"] or {}) if "importance" in words else counted
    ends = {"counted_low": counted["low"], "counted_high": counted["high"]}
    return {**same, "experiments": found["experiments"], **{k: told.get(k) for k in ("value", "low", "high")}, **ends}


def limit_states() -> dict:
    """The limit states: dimensions and the margins of points [n, d], zero or less where they fail."""
    import numpy as np

    def plane(z):
        return PLANE - z.sum(1) / math.sqrt(z.shape[1])

    def series(out: float):
        def margin(z):
            gap, total = np.abs(z[:, 0] - z[:, 1]), np.abs(z[:, 0] + z[:, 1]) / math.sqrt(2)
            return np.minimum(3 + 0.1 * gap**2 - total, 7 / math.sqrt(2) - gap) + out

        return margin

    return {
        "plane, d = 2": (2, plane),
        "plane, d = 4": (4, plane),
        "plane, d = 100": (100, plane),
        "series": (2, series(0.0)),
        "series, far": (2, series(1.475622390)),
        "apart": (10, lambda z: np.minimum(3.745548593 - z[:, 0], 4.264890794 + z[:, 1])),
    }


def openturns(seeds: int) -> list[dict]:
    """Runs of OpenTURNS with its defaults, and 1,000 experiments a level or stage."""
    import openturns as ot

    ot.Log.Show(ot.Log.NONE)
    rows = []
    for name, (d, margin) in limit_states().items():
        for method in (subset, cross_entropy, form):
            for seed in range(seeds):
                ot.RandomGenerator.SetSeed(seed)
                function, made = counted(ot, d, margin)
                event = ot.ThresholdEvent(ot.CompositeRandomVector(function, ot.RandomVector(ot.Normal(d))), ot.Less(), 0.0)
                same = {"case": name, "method": f"OpenTURNS {method.__name__.replace('_', '-')}", "seed": seed}
                try:
                    found = method(ot, event, d)
                except Exception:  # noqa: BLE001 (whatever OpenTURNS raises is a refusal)
                    rows.append({**same, "experiments": made[0], "value": None})
                    continue
                half, p = found.getConfidenceLength(0.95) / 2, found.getProbabilityEstimate()
                rows.append({**same, "experiments": made[0], "value": p, "low": p - half, "high": p + half})
    return rows


def counted(ot, d: int, margin) -> tuple:
    """The function of a limit state, and how many points it was asked for; it gives up after 100,000."""
    import numpy as np

    made = [0]

    def sample(points):
        z = np.asarray(points)
        made[0] += len(z)
        if made[0] > 100_000:
            raise RuntimeError("100,000 experiments")
        return margin(z)[:, None]

    return ot.PythonFunction(d, 1, func=lambda z: list(sample([z])[0]), func_sample=sample), made


def subset(ot, event, d):
    sampler = ot.SubsetSampling(event)
    sampler.setMaximumOuterSampling(1000)
    sampler.run()
    return sampler.getResult()


def cross_entropy(ot, event, d):
    sampler = ot.StandardSpaceCrossEntropyImportanceSampling(event)
    sampler.setMaximumOuterSampling(1000)
    sampler.run()
    return sampler.getResult()


def form(ot, event, d):
    solver = ot.AbdoRackwitz()
    solver.setStartingPoint([0.1] * d)
    search = ot.FORM(solver, event) if ot.__version__ >= "1.23" else ot.FORM(solver, event, [0.1] * d)
    search.run()
    sampler = ot.PostAnalyticalImportanceSampling(search.getResult())
    sampler.setMaximumOuterSampling(1000)
    sampler.setMaximumCoefficientOfVariation(-1.0)
    sampler.run()
    return sampler.getResult()


def summary(case: str, method: str, rows: list[dict]) -> dict:
    from scipy import stats

    p, found = TRUTH[case], [r for r in rows if r.get("value") is not None]
    made = [r["experiments"] for r in rows if r["experiments"]]
    result = {"case": case, "method": method, "p": p, "runs": len(rows), "refused": len(rows) - len(found)}
    result["experiments"] = round(sum(made) / len(made)) if made else ""
    if found:
        n = len(found)
        error = sum((r["value"] / p - 1) ** 2 for r in found) / n
        gain = (1 - p) / p / (result["experiments"] * error)
        low, high = (gain * stats.chi2.ppf(q, n) / n for q in (0.025, 0.975))
        held = sum(r["low"] <= p <= r["high"] for r in found) + result["refused"]
        bias = sum(r["value"] for r in found) / n / p - 1
        result |= {"bias": f"{bias:.3f}", "gain": f"{gain:.3g}", "gain_low": f"{low:.3g}", "gain_high": f"{high:.3g}"}
        result["held"] = f"{held / len(rows):.3f}"
    n, is_importance = result["experiments"], "importance" in method
    if is_importance and made:
        result["width"] = f"{counted_width(n - math.floor(n * (1 - PLAIN_SHARE) + 1e-9), p) / counted_width(n, p):.2f}"
    widths = [r["counted_high"] - r["counted_low"] for r in rows if r.get("counted_high")]
    if widths and not is_importance:
        result["width"] = f"{sum(widths) / len(widths) / counted_width(n, p):.2f}"
    return result


def counted_width(n: int, p: float) -> float:
    """The expected width of Clopper and Pearson's 95 % interval."""
    from scipy import stats

    def width(k: int) -> float:
        low = stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0
        return stats.beta.ppf(0.975, k + 1, n - k) - low

    most = int(n * p + 12 * math.sqrt(n * p) + 12)
    return sum(stats.binom.pmf(k, n, p) * width(k) for k in range(most))


def measure(seeds: int, seeds_of_program: int) -> None:
    rows = [*own(seeds), *program(seeds_of_program), *openturns(seeds)]
    keys = dict.fromkeys((r["case"], r["method"]) for r in rows)
    order = sorted(keys, key=lambda key: list(TRUTH).index(key[0]))
    with OUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for key in order:
            writer.writerow(summary(*key, [r for r in rows if (r["case"], r["method"]) == key]))


def table() -> None:
    print("| limit state | method | runs | refused | experiments | bias | gain over counting | held | width |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in csv.DictReader(OUT.open()):
        gain = f"{r['gain']} [{r['gain_low']}, {r['gain_high']}]" if r["gain"] else ""
        cells = [r["case"], r["method"], r["runs"], r["refused"], r["experiments"], r["bias"], gain, r["held"], r["width"]]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*map(int, sys.argv[1:]))
    table()
