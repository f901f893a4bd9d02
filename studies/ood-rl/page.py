"""The page of the suite `ood-rl`, docs/explanations/ood-rl.md, and its tables, README.md: the publication's beside ours, and what it does not ask.

    python3 studies/ood-rl/page.py

Needs pyarrow and SciPy.
"""

import hashlib
import itertools
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from milder import is_milder, milder, told
from records import MAIN, METHODS, TEXT, by_trial, mean_sd, numbers, records, share, spread, table, words

RESULTS = tidy.ROOT / "studies/ood-rl"
ARCHIVE = tidy.ROOT / "agents/ood-rl/policies.zip"
ENVIRONMENTS = ["cartpole", "pendulum", "pong", "ale-pong"]
SOLVED = {"cartpole": 475, "pendulum": -200, "pong": 0, "ale-pong": 0}
#: Detectors that know nothing of the policy, and were fitted on other nominal episodes.
EXTERNAL = ["clock", "random", "knn", "isolation-forest", "ensemble-dm", "rnd", "feature-mahalanobis", "feature-knn"]


def packed():
    """The policies of the archive: environment, method and trial."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        names = [pathlib.Path(name).stem for name in archive.namelist()]
    known = [(name, env, name.removeprefix(f"{env}-")) for name in names for env in ENVIRONMENTS if name.startswith(f"{env}-")]
    return [(env, *rest.rsplit("-", 1)) for _, env, rest in known]


def archive():
    """What the archive of policies holds, and how to read it."""
    found = {}
    for env, method, trial in packed():
        found.setdefault((env, method), []).append(int(trial))
    rows = [
        [env, METHODS[method], f"`{env}-{method}-1`" + (f" to `-{max(trials)}`" if len(trials) > 1 else "")]
        for (env, method), trials in sorted(found.items(), key=lambda pair: ENVIRONMENTS.index(pair[0][0]))
    ]
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
    head = ["environment", "method", "files, ending in `.safetensors`"]
    return f"{TEXT.ARCHIVE.format(digest=digest)}\n{tidy.table(head, rows)}"


def measured(rows):
    """A sentence that says how many pairs of policy and variant have a number, of those of the archive."""
    variants = {env: rows.variants(env) for env in ENVIRONMENTS}
    requested = {(*policy, *variant) for policy in packed() for variant in variants[policy[0]]}
    own = rows.only(lambda row: row["anomaly"] != "none" and row["auroc"] is not None, detector=[MAIN])
    done = {(r["env"], r["method"], str(r["trial"]), r["anomaly"], r["magnitude"]) for r in own}
    return (
        f"Of {len(requested)} pairs of a policy of the [archive](../../studies/ood-rl/README.md#the-archive) and a variant of its "
        f"environment {len(done & requested)} have a number.\n"
    )


def is_published(row):
    """Whether a variant is one of the publication's, in which something can be detected."""
    return not row["null"] and not is_milder(row)


def agents():
    """The policies in nominal episodes."""

    def short(value):
        """One decimal where there are more; anything else as it is."""
        try:
            number = float(value)
        except ValueError:
            return value
        return f"{number:.1f}" if "." in value and abs(number) > 1 else value

    def part(file, title, note):
        lines = [line.split(",") for line in (RESULTS / file).read_text().splitlines()]
        keep = [i for i, name in enumerate(lines[0]) if name != "command"]
        rows = [[short(line[i]) for i in keep] for line in lines[1:]]
        return f"### {title}\n\n{note}\n\n{table([lines[0][i] for i in keep], rows)}\n"

    returns = part("agents.csv", "Nominal returns", TEXT.RETURNS)
    return f"{TEXT.AGENTS}\n{archive()}\n{returns}\n{part('probabilities.csv', 'Probabilities', TEXT.PROBABILITIES)}"


def summary(rows):
    """One line per environment and method."""
    lines = []
    for env, (method, title) in itertools.product(ENVIRONMENTS, METHODS.items()):
        own = rows.of(env, method, MAIN).only(lambda row: row["anomaly"] != "none")
        n = len(by_trial(own, "auroc"))
        if n == 0:
            continue
        real, failing = own.only(is_published), own.only(is_published, fails=[True])
        lines.append([
            f"{env}, {title}", n, f"{len(failing) / n:.1f} of {len(real) // n}", spread(by_trial(failing, "auroc")),
            spread(by_trial(real, "auroc")), spread(by_trial(failing, "auroc_matched")),
            spread(by_trial(own.only(null=[True]), "auroc")),
        ])
    return table(["environment, method", "trials", "variants failed", "AUROC where it fails", "of all variants",
                  "at equal times, where it fails", "null controls"], lines)


def published():
    """The columns of the publication's tables: numbers of one variant."""
    rows = tidy.read(tidy.ROOT / "studies/published/ood-rl.csv")
    return [list(own) for _, own in itertools.groupby(rows, lambda r: (r["table"], r["anomaly"], r["magnitude"]))]


def ours(rows, column):
    """Our records of a column of the publication, one for each trial."""
    first = column[0]
    return rows.trials(first["env"], first["method"], first["anomaly"], first["magnitude"])


def best(rows):
    """Tables 3 to 5."""
    found = TEXT.BEST
    for number, env in [(3, "cartpole"), (4, "pendulum"), (5, "pong")]:
        lines = []
        for column in published():
            if column[0]["env"] == env:
                own, first = ours(rows, column), column[0]
                lines.append([
                    f"{METHODS[first['method']]}, {words(first['anomaly'], first['magnitude'])}",
                    share(max(p["auroc"] for p in column)), share(max(numbers(own), default=None)),
                    f"{sum(r['fails'] for r in own)} of {len(own)}",
                ])
        head = ["method, variant", "published best", "our best", "policies that fail"]
        found += f"\n### Table {number}: {env}\n\n{table(head, lines)}"
    return found + own_best(rows)


def own_best(rows):
    """The variant in which each method does best, among those where every trial fails."""
    lines = []
    for env, (method, title) in itertools.product(ENVIRONMENTS, METHODS.items()):
        found = []
        for anomaly, magnitude in rows.variants(env):
            own = rows.trials(env, method, anomaly, magnitude)
            if own and all(r["fails"] for r in own) and is_published(own[0]):
                found.append((words(anomaly, magnitude), numbers(own)))
        if found:
            what, values = max(found, key=lambda pair: mean_sd(pair[1])[0])
            lines.append([f"{env}, {title}", what, spread(values)])
    head = ["environment, method", "variant with the best mean", "AUROC"]
    return f"\n### Where each method does best\n\n{TEXT.OWN_BEST}\n\n{table(head, lines)}"


def trial_tables(rows):
    """Tables 6 to 19."""
    found = TEXT.TRIALS
    for number, columns in itertools.groupby(published(), lambda column: column[0]["table"]):
        columns = list(columns)
        first = columns[0][0]
        found += f"\n### Table {number:.0f}: {first['env']}, {METHODS[first['method']]}\n\n{trial_table(rows, columns)}"
    return found


def trial_table(rows, columns):
    own = [ours(rows, column) for column in columns]
    lines = []
    for trial in range(1, 6):
        cells = [next((with_interval(r) for r in column if r["trial"] == trial), "–") for column in own]
        if any(cell != "–" for cell in cells):
            lines.append([f"trial {trial}", *cells])
    prevalence = lambda r: r["positives"] / (r["positives"] + r["negatives"])  # noqa: E731
    lines.append(["mean ± sd", *(spread(numbers(column)) for column in own)])
    lines.append(["published mean ± sd", *(spread([p["auroc"] for p in column]) for column in columns)])
    lines.append(["prevalence", *(spread([prevalence(r) for r in column]) for column in own)])
    return table(["AUROC", *(words(c[0]["anomaly"], c[0]["magnitude"]) for c in columns)], lines)


def with_interval(row):
    """The AUROC with its interval; in brackets where the policy does not fail."""
    said = f"{share(row['auroc'])} [{share(row['auroc_low'])}, {share(row['auroc_high'])}]"
    return said if row["fails"] else f"({said})"


def played(rows):
    return [env for env in ENVIRONMENTS if env in rows.values("env")]


def measures(rows):
    """One line per measure of the same predictions."""
    found = TEXT.MEASURES
    for env in played(rows):
        methods, lines = rows.methods(env), []
        for measure in rows.measures():
            cells = []
            for method in methods:
                own, all_of = ([by_trial(rows.of(env, method, m).only(is_published, fails=[True]), "auroc")
                                for m in (measure, MAIN)])
                few = f" ({len(own)} of {len(all_of)})" if 1 <= len(own) < len(all_of) else ""
                cells.append(spread(own) + few)
            if any(cell != "–" for cell in cells):
                lines.append([f"`{measure}`", *cells])
        found += f"\n{table([env, *(METHODS[m] for m in methods)], lines)}"
    return found


def external(rows):
    """Other detectors on the episodes of the first ensemble."""
    lines, environments = [], played(rows)
    for name in [MAIN, *EXTERNAL]:
        cells = []
        for env in environments:
            own = rows.of(env, "ensemble", name).only(is_published, trial=[1], fails=[True])
            cells += [share(next(iter(by_trial(own, key)), None)) for key in ("auroc", "auroc_matched")]
        lines.append([f"`{name}`", *cells])
    head = ["detector", *(title for env in environments for title in (env, "at equal times"))]
    return f"{TEXT.OTHERS}\n{table(head, lines)}"


def all_variants(rows):
    """Every variant; policies that were trained with corruptions have a table of their own."""
    found = TEXT.ALL
    for env in played(rows):
        found += f"\n### {env}: a policy fails below {SOLVED[env]}\n"
        methods = rows.methods(env)
        for part in (False, True):
            if own := [m for m in methods if m.startswith("augmented") == part]:
                found += f"\n{variants_of(rows, env, own)}"
    return found


def variants_of(rows, env, methods):
    lines = []
    for anomaly, magnitude in rows.variants(env):
        own = [rows.trials(env, method, anomaly, magnitude) for method in methods]
        every = [row for part in own for row in part]
        if every:
            kind = " (null)" if every[0]["null"] else " (ours)" if is_milder(every[0]) else ""
            fails = sum(row["fails"] for row in every)
            lines.append([
                words(anomaly, magnitude) + kind, *(spread(numbers(part)) for part in own), f"{fails} of {len(every)}",
            ])
    return table(["variant", *(METHODS[m] for m in methods), "policies that fail"], lines)


def settled():
    """Policies at parts of their training: whether less settled ones differ more from trial to trial."""
    rows = tidy.Rows(tidy.read(RESULTS / "settled.csv"))
    groups = [list(own) for _, own in itertools.groupby(rows, lambda r: (r["env"], r["quarters"]))]
    lines, ours, theirs = [], [], []
    for own in groups:
        points, sd = mean_sd([r["return"] for r in own])
        aurocs = [r["auroc"] for r in own if r["auroc"] != ""]
        failed = mean_sd([r["variants_failed"] for r in own])[0]
        lines.append([f"{own[0]['env']}, {25 * own[0]['quarters']:.0f} %", len(own), f"{points:.1f} ± {sd:.1f}",
                      f"{failed:.1f}", spread(aurocs)])
        ours += [mean_sd(aurocs)[1]] if len(aurocs) > 1 else []
    for column in published():
        if column[0]["method"] == "dropout" and column[0]["env"] in rows.values("env"):
            theirs.append(mean_sd([p["auroc"] for p in column])[1])
    head = ["environment, part of the training", "trials", "return", "variants failed", "AUROC"]
    return (
        f"{TEXT.SETTLED}\n{table(head, lines)}\nOur deviations over trials are {share(min(ours))} to {share(max(ours))}, those of the "
        f"publication's variants with MC-Dropout in these environments {share(min(theirs))} to {share(max(theirs))}.\n"
    )


def linear(rows):
    """Policies of the pendulum with a linear output: whether it explains the published numbers."""
    own = tidy.Rows(tidy.read(RESULTS / "linear.csv"))
    lines = []
    for column in published():
        first = column[0]
        if first["env"] != "pendulum":
            continue
        found = own.only(method=first["method"], anomaly=first["anomaly"], magnitude=first["magnitude"])
        lines.append([
            f"{METHODS[first['method']]}, {words(first['anomaly'], first['magnitude'])}", spread([p["auroc"] for p in column]),
            spread(numbers(ours(rows, column))), spread([r["auroc_commands"] for r in found]), spread([r["auroc_outputs"] for r in found]),
        ])
    returns = {method: mean_sd([r["return"] for r in own.only(method=method, anomaly="none")]) for method in own.values("method")}
    home = ", ".join(f"{METHODS[method]} {mean:.0f} ± {sd:.0f}" for method, (mean, sd) in returns.items())
    head = ["method, variant", "published", "tanh, commands", "linear, commands", "linear, outputs"]
    return f"{TEXT.LINEAR}\n{table(head, lines)}\nNominal returns of the policies with a linear output: {home}.\n"


def main():
    rows = records(RESULTS / "results.parquet")
    page = [
        TEXT.HEAD, f"{TEXT.SUMMARY}\n{summary(rows)}\n{measured(rows)}\n{TEXT.FOUND}{told(rows)}{TEXT.FOUND_TOO}", milder(rows), settled(), linear(rows),
        measures(rows), external(rows), TEXT.DIFFERENCES,
    ]
    tidy.write("docs/explanations/ood-rl.md", "\n".join(page))
    tidy.write("studies/ood-rl/README.md", "\n".join([TEXT.TABLES, agents(), best(rows), trial_tables(rows), all_variants(rows)]))


if __name__ == "__main__":
    main()
