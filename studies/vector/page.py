"""The page of the suite `vector`, docs/explanations/vector.md, and its tables, README.md, beside the figures of Anomaly-Gym.

    python3 studies/vector/page.py             # writes the page and the tables
    python3 studies/vector/page.py --figures   # writes the figures, too

Needs pyarrow and SciPy, and for figures Matplotlib.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from diagnosis import diagnosis, parameters
from published import another_policy, order, timing, variants
from tidy import NAN, code, estimate, signed, table, table_of, two

RESULTS = tidy.ROOT / "studies/vector"
ORDER = ["mjc-cartpole-swingup", "mjc-reacher3d", "mjc-half-cheetah", "sap-goal0", "sap-goal1", "sap-goal2", "urm-reach",
         "urm-pnp", "urr-reach", "car-lanekeep"]
POLICY = "tqc"
DEFAULT, OURS, THEIRS = "panel", "residual-views", "pe-dm"
BASELINES = ("clock", "random")
#: The environments in which the composition of `residual-views` was chosen (`studies/vector/detectors-choice.toml`), and those with
#: the same bodies.
CHOICE = ["sap-goal0", "sap-goal1", "mjc-cartpole-swingup", "urm-pnp"]
SIBLINGS = ["sap-goal2", "urm-reach", "urr-reach"]
#: The environments in which the penalty of `panel` was chosen (docs/explanations/choices.md).
PENALTY = ["urr-reach", "mjc-half-cheetah", "sap-goal2"]
MATCHED, ALARM = "auroc_matched", "conformal"
#: Rules of thresholds; all but the last promise a share of false alarms.
RULES = ["conformal", "band", "cusum", "martingale", "q95"]

#: What is done to the scores of a model of dynamics, from nothing to all views.
STEPS = [
    ("PE-DM, a step alone", THEIRS),
    ("PE-DM, mean of the last steps", "running-mean(pe-dm)"),
    ("PE-DM, sum", "cusum(pe-dm)"),
    ("PE-DM, bets", "e-process(pe-dm)"),
    ("our residuals, a step alone", "ensemble-dm"),
    ("our residuals, mean of the last steps", "running-mean(ensemble-dm)"),
    ("our residuals, bets", "e-process"),
    ("our residuals, window of 16 steps", "residual-window"),
    ("our residuals as normal scores, six views", OURS),
]

FIGURES = [
    ("vector-all.svg", "all anomalies, all strengths", {}),
    ("vector-action.svg", "anomalies of actions", {"anomaly_class": "action"}),
    ("vector-observation.svg", "anomalies of observations", {"anomaly_class": "observation"}),
    ("vector-dynamics.svg", "anomalies of dynamics", {"anomaly_class": "dynamics"}),
    ("vector-tiny.svg", "tiny anomalies", {"strength": "tiny"}),
    ("vector-extreme.svg", "extreme anomalies", {"strength": "extreme"}),
    ("vector-urm-reach.svg", "urm-reach, a robot in MuJoCo", {"env": "urm-reach"}),
    ("vector-urr-reach.svg", "urr-reach, the same robot behind its link", {"env": "urr-reach"}),
]
#: What is among the tables only.
ELSEWHERE = [
    ("controls by environment", "controls"), ("distributions", "distributions"),
    ("cells in which the default's model is not the best", "where-another-detector-is-better"),
    ("noise by environment", "with-nominal-noise-by-environment"),
    ("the order of detectors beside the published one", "table-12-the-same-order-of-detectors"),
    ("habits of the released code", "what-the-released-code-does-otherwise-measured"),
    ("timing by threshold", "table-4-timing"), ("other policies", "table-5-another-policy"),
    ("diagnosis of each parameter", "diagnosis-of-each-parameter"), ("false alarms of each rule", "false-alarms-by-environment"),
]
STRENGTHS = ("strengths-sap-goal1.svg", "sap-goal1",
             ["act-offset", "obs-offset", "obs-noise", "dyn-damping", "dyn-moving-objects"])


def is_held_out(env):
    """Whether the choice of the default knew nothing of an environment."""
    return env.partition("?")[0] not in CHOICE + SIBLINGS


def head(found):
    there = [env["env"] for env in found.environments]
    return (
        "# The vector benchmark\n\n"
        "Written by `python3 studies/vector/page.py` from the tables of the environments; do not edit.\n\n"
        f"Fifteen anomalies, in particle environments seventeen, at four calibrated strengths in {len(there)} of {len(ORDER)} "
        f"environments: {code(there)}.{found.lacking()}\n"
        f"{found.measured('../reference/strengths.md', POLICY)}\n"
        "Numbers in brackets are 95 % intervals; anomalies of an environment count as one unit.\n"
        f"{tidy.OLDER}"
        "Published figures are those of Anomaly-Gym, whose environments, policies and strengths differ from ours in what their "
        "cards say: compare orders, not digits.\n\n"
        "The commands, and every table that is not here, are [beside the results](../../studies/vector/README.md): "
        f"{', '.join(f'[{says}](../../studies/vector/README.md#{anchor})' for says, anchor in ELSEWHERE)}.\n"
    )


def head_of_tables(found):
    return (
        "# The vector benchmark: all tables\n\n"
        "Written by `python3 studies/vector/page.py` from the tables of the environments; do not edit. "
        "[The page](../../docs/explanations/vector.md) says what is compared, and what was found. "
        "Numbers in brackets are 95 % intervals.\n\n"
        f"```sh no-run: takes hours\n{found.commands()}\n```\n"
    )


def short(found):
    lines = found.anomalies(POLICY)
    others = lines.only(lambda row: is_held_out(row["env"]))
    ahead = lambda part, own, than, metric, rule="": signed(  # noqa: E731
        tidy.mean(part.only(detector=own).against(part.only(detector=than), metric, rule), (-1.0, 1.0))
    )
    of_all = lambda part: estimate(part.mean("d20", ALARM))  # noqa: E731
    _, own, _, _ = of_noise(found)
    d20 = lambda d: of_all(others.only(detector=d))  # noqa: E731
    return (
        "## In short\n\n"
        f"- In the {len(others.values('env'))} held-out environments, whose bodies were not used to choose the parts of `{OURS}`, its "
        f"matched AUROC at the smallest strength is {ahead(others.only(strength='tiny'), OURS, THEIRS, MATCHED)} above that of "
        f"`{THEIRS}`. At the same rate of false alarms (5 % of episodes promised) it finds {d20(OURS)} of the anomalies within 20 "
        f"steps, `{THEIRS}` {d20(THEIRS)}, `residual-window` {d20('residual-window')}.\n"
        f"- The default, `{DEFAULT}`, finds {of_all(lines.only(detector=DEFAULT))} of the anomalies within 20 steps, "
        f"{of_all(lines.only(detector=DEFAULT, strength='tiny'))} at the smallest strength, which costs the policy one per cent of its "
        f"score, and {of_all(lines.only(detector=DEFAULT, strength='extreme'))} at the largest, which costs half of it. It finds as much "
        f"as `{OURS}`, which it contains: the difference is {ahead(lines, DEFAULT, OURS, 'd20', ALARM)} "
        f"([by environment](#{DEFAULT}-the-default)).\n"
        "- With sensors and actuators as noisy as datasheets say, the order of detectors stays ([by level](#with-nominal-noise), in "
        f"{len(own)} of {len(ORDER)} environments).\n"
    )


def overview(found):
    lines, control = found.anomalies(POLICY), found.control(POLICY)
    near, cover, n = near_half(control)
    own = {d: lines.only(detector=d) for d in found.everywhere()}
    mean = lambda metric, rule="": lambda d: estimate(own[d].mean(metric, rule))  # noqa: E731
    columns = [
        ("detector", lambda d: f"`{d}`"),
        ("AUROC matched, tiny", lambda d: estimate(own[d].only(strength="tiny").mean(MATCHED))),
        ("AUROC matched, all", mean(MATCHED)),
        ("AUPR matched", mean("aupr_matched")),
        ("FPR95 matched", mean("fpr95_matched")),
        ("AUROC local", mean("auroc_local")),
        ("AUROC global", mean("auroc_global")),
        ("found in 20 steps", mean("d20", ALARM)),
        ("median delay", lambda d: two(own[d].median("delay_median", ALARM)[0])),
        ("found before the policy fails", mean("before_failure_rate", ALARM)),
        ("false alarms", lambda d: estimate(control.only(detector=d).mean("false_alarm_rate", ALARM))),
    ]
    return (
        "## All environments\n\nTQC; means over anomalies, alarms at the conformal threshold for 5 % of episodes. The delay is "
        "the median over anomalies and strengths; ∞ if most are not found in more than half of their "
        f"episodes.{found.left_out()}\n\n{table_of(found.everywhere(), columns)}\n"
        f"In nominal episodes judged as if an anomaly began in them, the matched AUROC must be one half: {near} of {n} controls are "
        f"within .02 of it, and {cover} of the intervals hold it.\n"
    )


def near_half(control):
    """How many controls are near one half, how many intervals hold it, and of how many."""
    known = [p for p in control.points(MATCHED) if not math.isnan(p[0])]
    return sum(abs(p[0] - 0.5) <= 0.02 for p in known), sum(p[1] <= 0.5 <= p[2] for p in known), len(known)


def controls(found):
    control, detectors = found.control(POLICY), found.detectors()

    def value(env, detector):
        points = control.only(env=env, detector=detector).points(MATCHED)
        return two(points[0][0] if points else NAN)

    near, cover, n = near_half(control)
    rows = [[env["env"], *(value(env["env"], d) for d in detectors)] for env in found.environments]
    rows.append(["all environments", *(estimate(control.only(detector=d).mean(MATCHED)) for d in detectors)])
    return (
        "## Controls\n\nNominal episodes judged as if an anomaly began in them: matched AUROC, which must be one half. "
        f"{near} of {n} are within .02 of it, and {cover} of the intervals hold it; the detectors of an environment "
        f"share its episodes, so they stray together.\n\n{table(['environment', *detectors], rows)}"
    )


def figures_section():
    images = "\n\n".join(f"![Matched AUROC, {title}](../../docs/figures/{file})" for file, title, _ in FIGURES)
    file, env, _ = STRENGTHS
    return (
        "## Distributions\n\nMatched AUROC over cells of environment, anomaly and strength: whiskers from 5 to 95 %, boxes from "
        "25 to 75 %, a line at the median, a triangle at the mean. Detectors are ordered by their mean; those that were not run in "
        "every environment are left out. Where two environments have the same robot, the second one is reached over the robot's "
        "own protocol, here with a simulated controller. `python3 studies/vector/page.py --figures` writes the figures.\n\n"
        f"{images}\n\nThe last figure has the strengths of {env} for five anomalies: a level is the magnitude at which the policy "
        "keeps 99, 90, 75 or 50 % of its score. Objects that move cost it little however fast they are, so only the tiny level "
        f"exists.\n\n![What anomalies cost the policy in {env}, by magnitude](../../docs/figures/{file})\n"
    )


def draw(found):
    rows = found.anomalies(POLICY).metric(MATCHED)
    for file, title, keep in FIGURES:
        part = rows.only(**keep)
        groups = [(d, [r["value"] for r in part.only(detector=d) if math.isfinite(r["value"])]) for d in found.everywhere()]
        groups = sorted((g for g in groups if g[1]), key=lambda g: -sum(g[1]) / len(g[1]))
        tidy.boxes(f"docs/figures/{file}", f"Matched AUROC, {title}", groups)
    file, env, anomalies = STRENGTHS
    levels = tidy.Rows(tidy.read(tidy.ROOT / f"strengths/{env}.csv")).only(policy=POLICY)
    lines = []
    for anomaly in anomalies:
        known = [r for r in levels.only(anomaly=anomaly) if r["magnitude"] != "" and r["score_low"] != ""]
        points = [(r["magnitude"] / known[0]["magnitude"], r["score"], r["score_low"], r["score_high"]) for r in known]
        lines.append((anomaly, points))
    labels = ("magnitude, in units of the tiny one", "normalised score")
    tidy.curves(f"docs/figures/{file}", f"What anomalies cost the policy in {env}", labels, lines, True, (0.3, 1.0))


def gain(found):
    lines = found.anomalies(POLICY)
    parts = [
        ("environments of the choice", lines.only(env=CHOICE)),
        ("their siblings", lines.only(env=SIBLINGS)),
        ("held-out environments", lines.only(lambda row: is_held_out(row["env"]))),
    ]

    def ahead(part, metric, rule="", most=1.0):
        points = part.only(detector=OURS).against(part.only(detector=THEIRS), metric, rule)
        return signed(tidy.mean(points, (-most, most)))

    def delay(part):
        known = len(part.metric("delay_restricted", ALARM).only(detector=THEIRS).values("env"))
        return f"{ahead(part, 'delay_restricted', ALARM, 50.0)} (known in {known})"

    columns = [
        ("", lambda part: part[0]),
        ("environments", lambda part: len(part[1].values("env"))),
        ("AUROC matched, tiny", lambda part: ahead(part[1].only(strength="tiny"), MATCHED)),
        ("AUROC matched, all", lambda part: ahead(part[1], MATCHED)),
        ("found in 20 steps", lambda part: ahead(part[1], "d20", ALARM)),
        ("found at all", lambda part: ahead(part[1], "detection_rate", ALARM)),
        ("mean delay, steps", lambda part: delay(part[1])),
    ]
    return (
        f"## `{OURS}` against `{THEIRS}`\n\nThe parts of `{OURS}` were chosen in {', '.join(CHOICE)}. Siblings of these, with the "
        f"same bodies, are {', '.join(SIBLINGS)}; only the others are held out, and give figures that the choice does not flatter. "
        "Differences are taken anomaly by anomaly at the same strength, of alarms at equal episode false-alarm rates (conformal, "
        "5 %). The mean delay is restricted: a delay counts at most 50 steps, and a missed anomaly 50; less is better. It is newer "
        f"than some of the results, which lack it.\n\n{table_of(parts, columns)}"
    )


def of_default(found):
    """The default, where it was run, beside the detector that it contains."""
    lines, control = found.anomalies(POLICY), found.control(POLICY)
    envs = [env["env"] for env in found.environments if DEFAULT in env["detectors"]]

    def both(rows, env, metric, rule=""):
        part = rows.only(env=env)
        return " / ".join(estimate(part.only(detector=d).mean(metric, rule)) for d in (DEFAULT, OURS))

    columns = [
        ("environment", lambda env: env),
        ("AUROC matched, tiny", lambda env: both(lines.only(strength="tiny"), env, MATCHED)),
        ("AUROC matched, all", lambda env: both(lines, env, MATCHED)),
        ("found in 20 steps, tiny", lambda env: both(lines.only(strength="tiny"), env, "d20", ALARM)),
        ("found in 20 steps, all", lambda env: both(lines, env, "d20", ALARM)),
        ("false alarms", lambda env: both(control, env, "false_alarm_rate", ALARM)),
    ]
    part = lines.only(env=envs)

    def ahead(rows, metric, rule=""):
        points = rows.only(detector=DEFAULT).against(rows.only(detector=OURS), metric, rule)
        return signed(tidy.mean(points, (-1.0, 1.0)))

    return (
        f"## `{DEFAULT}`, the default\n\n`{DEFAULT}` has `{OURS}` inside, beside control charts that "
        "[recordings of machines](../../studies/real/README.md) ask for, and shares its false alarms among them. "
        f"In the {len(envs)} environments in which it was run, {DEFAULT} / {OURS}:\n\n"
        f"{table_of(envs, columns)}\n"
        f"Means of the difference {DEFAULT} − {OURS}: {ahead(part.only(strength='tiny'), MATCHED)} AUROC at the smallest strength, "
        f"{ahead(part, MATCHED)} at all, {ahead(part, 'd20', ALARM)} found in 20 steps.\n\n"
        f"The penalty of its charts was chosen in {', '.join(PENALTY)}, the parts of `{OURS}` in {', '.join(CHOICE)}: figures of these "
        f"{len(PENALTY + CHOICE)} environments flatter `{DEFAULT}`.\n"
    )


def regrets(lines, metric, rule):
    """The regret of every detector in every cell, as points by detector."""
    lines = lines.metric(metric, rule).only(lambda row: not math.isnan(row["value"]))
    best, found = {}, {}
    for row in lines:
        best[tidy.cell(row)] = max(best.get(tidy.cell(row), -math.inf), row["value"])
    for row in lines:
        point = (best[tidy.cell(row)] - row["value"], NAN, NAN, tidy.cell(row)[:3])
        found.setdefault(row["detector"], []).append(point)
    return found


def regret(found):
    detectors = [d for d in found.everywhere() if d not in BASELINES]
    lines = found.anomalies(POLICY).only(detector=detectors)
    others = lines.only(lambda row: is_held_out(row["env"]))
    matched, d20 = regrets(others, MATCHED, ""), regrets(others, "d20", ALARM)
    columns = [
        ("detector", lambda d: f"`{d}`"),
        ("found in 20 steps", lambda d: estimate(others.only(detector=d).mean("d20", ALARM))),
        ("regret", lambda d: estimate(tidy.mean(d20[d], tidy.SHARE))),
        ("AUROC matched, tiny", lambda d: estimate(others.only(detector=d, strength="tiny").mean(MATCHED))),
        ("regret, all strengths", lambda d: estimate(tidy.mean(matched[d], tidy.SHARE))),
        ("cells with a regret above 0.05",
         lambda d: f"{sum(p[0] > 0.05 for p in matched[d])} of {len(matched[d])}"),
    ]
    return (
        "## Regret\n\nThe best detector of a cell is the one of this table with the highest number there, chosen in hindsight; the "
        f"regret of another one is what it lacks. Environments of the choice and their siblings ({', '.join(CHOICE + SIBLINGS)}) are "
        "left out. The hindsight favours chance a little: regrets are above zero even among detectors that are equally "
        f"good.{found.left_out()}\n\n{table_of(detectors, columns)}"
    )


def largest(found):
    """The cells in which ours lacks most AUROC, in all environments."""
    lines = found.anomalies(POLICY).only(detector=[d for d in found.everywhere() if d not in BASELINES])
    lines = lines.metric(MATCHED).only(lambda row: not math.isnan(row["value"]))
    best = {}
    for row in lines:
        if row["value"] > best.setdefault(tidy.cell(row), row)["value"]:
            best[tidy.cell(row)] = row
    cells = [(own, best[tidy.cell(own)]) for own in lines.only(detector=OURS)]
    cells = [pair for pair in cells if pair[1]["value"] - pair[0]["value"] > 0.05]
    cells.sort(key=lambda pair: pair[0]["value"] - pair[1]["value"])
    columns = [
        ("environment", lambda pair: pair[0]["env"]),
        ("anomaly", lambda pair: f"{pair[0]['anomaly']}, {pair[0]['strength']}"),
        (OURS, lambda pair: two(pair[0]["value"])),
        ("best", lambda pair: two(pair[1]["value"])),
        ("which is", lambda pair: f"`{pair[1]['detector']}`"),
    ]
    shown = cells[:12]
    return (
        f"## Where another detector is better\n\nCells of all environments in which `{OURS}` lacks more than 0.05 of AUROC, "
        f"{len(shown)} of {len(cells)}:\n\n"
        f"{table_of(shown, columns)}"
    )


def parts(found):
    lines = found.anomalies(POLICY)
    choice, others = lines.only(env=CHOICE), lines.only(lambda row: is_held_out(row["env"]))
    d20 = lambda part, d: part.only(detector=d).mean("d20", ALARM)  # noqa: E731
    tiny = lambda d: others.only(detector=d, strength="tiny").mean(MATCHED)  # noqa: E731
    columns = [
        ("what", lambda step: step[0]),
        ("detector", lambda step: f"`{step[1]}`"),
        ("AUROC matched, tiny", lambda step: estimate(tiny(step[1]))),
        ("AUROC matched, all", lambda step: estimate(others.only(detector=step[1]).mean(MATCHED))),
        ("found in 20 steps", lambda step: estimate(d20(others, step[1]))),
        ("found in 20 steps, environments of the choice", lambda step: estimate(d20(choice, step[1]))),
    ]
    best = max((d for _, d in STEPS if d.endswith("(pe-dm)")), key=lambda d: d20(choice, d)[0])

    def of_lead(value, d):
        gain, lead = value(d)[0] - value(THEIRS)[0], value(OURS)[0] - value(THEIRS)[0]
        return f"{gain:+.3f} of {lead:+.3f} ({100 * gain / lead:.0f} %)"

    shares = [
        [what, f"`{d}`", of_lead(tiny, d), of_lead(lambda d: d20(others, d), d)]
        for what, d in [("the model of residuals alone", "ensemble-dm"), ("accumulation alone", best)]
    ]
    return (
        "## What the lead is made of\n\nMost faults last, so a detector that adds up what it sees finds them sooner, whatever it "
        "sees. Here PE-DM gets the same accumulators as our residuals. Environments of the choice and their siblings are left out "
        f"but for the last column, which is of the choice, and by which the accumulator of PE-DM is chosen: `{best}`.\n\n"
        f"{table_of(STEPS, columns)}\n"
        + table(["of the lead over PE-DM", "detector", "AUROC matched, tiny", "found in 20 steps"], shares)
    )


def of_noise(found):
    """The results with noise, the environments that have them, and the rows at tiny without and with it."""
    noisy = tidy.Suite(RESULTS / "datasheet", ORDER)
    own = [env["env"].partition("?")[0] for env in noisy.environments]
    tiny = lambda rows: rows.only(lambda row: row["env"].partition("?")[0] in own, strength="tiny")  # noqa: E731
    return noisy, own, tiny(found.anomalies(POLICY)), tiny(noisy.anomalies(POLICY))


def noise(found):
    noisy, own, plain, loud = of_noise(found)
    detectors = noisy.everywhere()

    def ordered(rows):
        means = [(d, m[0]) for d in detectors if (m := rows.only(detector=d).mean(MATCHED))]
        return code(d for d, _ in sorted(means, key=lambda pair: -pair[1]))

    def ahead(rows, is_of):
        part = rows.only(lambda row: is_of(row["env"]))
        return signed(tidy.mean(part.only(detector=OURS).against(part.only(detector=THEIRS), MATCHED), (-1.0, 1.0)))

    columns = [
        ("detector", lambda d: f"`{d}`"),
        ("without noise", lambda d: estimate(plain.only(detector=d).mean(MATCHED))),
        ("with it", lambda d: estimate(loud.only(detector=d).mean(MATCHED))),
    ]
    titles = [
        ("environments of the choice and their siblings", lambda env: not is_held_out(env)),
        ("held-out environments", is_held_out),
        ("held-out environments and siblings", lambda env: env.partition("?")[0] not in CHOICE),
    ]
    gains = [[title, ahead(plain, is_of), ahead(loud, is_of)] for title, is_of in titles]
    missing = f" Not run yet: {code(noisy.missing)}." if noisy.missing else ""
    measured = noisy.measured("../reference/strengths.md", POLICY)
    return (
        "## With nominal noise\n\nSensors and actuators of a simulator are exact; those of a robot are not. Here both nominal and "
        "anomalous episodes have the noise of a level ([noise.md](../howto/noise.md)), the same for an episode and its twin. "
        "Strengths were calibrated again at each level: tiny costs the policy one per cent of what it scores with that noise.\n\n"
        f"At `datasheet`, in {code(own)}.{missing} {measured} Matched AUROC at tiny, means over environments and anomalies.\n\n"
        f"{table_of(detectors, columns)}\nFrom best to worst without noise: {ordered(plain)}. With it: {ordered(loud)}.\n\n"
        + table([f"gain of `{OURS}` over `{THEIRS}`", "without noise", "with it"], gains)
    )


def noise_by_environment(found):
    noisy, own, plain, loud = of_noise(found)

    def value(rows, env, d):
        part = rows.only(lambda row: row["env"].partition("?")[0] == env, detector=d)
        return two((part.mean(MATCHED) or (NAN,))[0])

    all_of = noisy.detectors()
    rows = [[f"`{env}`", *(f"{value(plain, env, d)} → {value(loud, env, d)}" for d in all_of)] for env in own]
    return (
        "## With nominal noise, by environment\n\nMatched AUROC at tiny, means over anomalies, without noise → at `datasheet`.\n\n"
        + table(["environment", *all_of], rows)
        + f"\n```sh no-run: takes hours\n{noisy.commands()}\n```\n"
    )


def alarmed(cells):
    """The share of watched episodes with an alarm."""
    watched = sum(c["watched"] for c in cells)
    return sum(c["alarms"] for c in cells) / watched if watched else None


def coverage(found):
    """Do the alarm rules keep their promise, over all environments and detectors?"""
    all_of = found.coverage(policy=POLICY)
    promised = all_of.only(threshold=RULES[:4])
    beyond = sum(c["alarms"] > c["most"] for c in promised)
    conformal = all_of.only(threshold="conformal")
    return (
        "## False alarms\n\nShare of fresh nominal episodes with an alarm, at the thresholds that were set on others before: the "
        "twins and the control episodes of all repetitions. Promised are at most 5 % on average over calibrations by the rules "
        f"{code(RULES[:4])}, nothing by `{RULES[4]}`. A single calibration of {conformal[0]['calibration']} episodes may get more for "
        "good: a rule that keeps its promise has more alarms than the .975 quantile of its beta-binomial law in 2.5 % of calibrations. "
        f"Here {beyond} of {len(promised)} combinations of environment, detector, repetition and rule have more "
        f"({tidy.percent(beyond / len(promised))}); detectors share episodes, so they stray together. `conformal` has "
        f"{tidy.percent(alarmed(conformal))} on average over all.\n"
    )


def coverage_by_environment(found):
    all_of = found.coverage(policy=POLICY)

    def cell(env, detector, rule):
        own = all_of.only(env=env, detector=detector, threshold=rule)
        if not own:
            return "–"
        each = [100 * alarmed([c]) for c in own]
        return f"{tidy.percent(alarmed(own))} ({min(each):.0f}–{max(each):.0f})"

    rows = [
        [env["env"], f"`{d}`", *(cell(env["env"], d, rule) for rule in RULES)]
        for env in found.environments for d in env["detectors"]
    ]
    return (
        "## False alarms, by environment\n\nShare of fresh nominal episodes with an alarm; in brackets the smallest and the largest "
        f"share of a repetition.\n\n{table(['environment', 'detector', *code(RULES).split(', ')], rows)}"
    )


def main():
    found = tidy.Suite(RESULTS, ORDER)
    if "--figures" in sys.argv:
        draw(found)
    page = [
        head(found), short(found), overview(found), of_default(found), gain(found), regret(found), parts(found), noise(found),
        diagnosis(found, POLICY), coverage(found),
    ]
    tables = [
        head_of_tables(found), controls(found), figures_section(), largest(found), noise_by_environment(found),
        order(found, POLICY), variants(RESULTS, POLICY), timing(found, POLICY), another_policy(found),
        parameters(found, POLICY), coverage_by_environment(found),
    ]
    tidy.write("docs/explanations/vector.md", "\n".join(page))
    tidy.write("studies/vector/README.md", "\n".join(tables))


if __name__ == "__main__":
    main()
