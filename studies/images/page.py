"""The page of the suite `images`, studies/images/README.md, beside Figure 3 and Tables 3, 5 and 13 of Anomaly-Gym.

    python3 studies/images/page.py             # writes the page
    python3 studies/images/page.py --figures   # writes the figures, too

Needs pyarrow and SciPy, and for figures Matplotlib.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from anomaly_gym import (
    CAUTIONS,
    GLOBAL,
    LOCAL,
    MATCHED,
    both,
    detail,
    families,
    find,
    kendall,
    ordered,
    published,
    timing,
    value,
)
from tidy import NAN, Rows, code, estimate, signed, table, table_of

RESULTS = tidy.ROOT / "studies/images"
ORDER = ["mjc-cartpole-swingup", "mjc-reacher3d", "mjc-half-cheetah", "sap-goal0", "sap-goal1", "sap-goal2", "urm-reach",
         "urm-pnp", "urr-reach", "car-lanekeep"]
POLICY, OURS, THEIRS = "tqc", "patch-fusion", "lrdm"
ALARM = "conformal"
#: The classes of anomalies that the paper has; those of the camera are ours.
PAPER, CLASSES = ["observation", "action", "dynamics"], ["observation", "action", "dynamics", "camera"]
#: The rules of thresholds that promise a share of false alarms, and the paper's one that raises most.
RULES = ["conformal", "band", "cusum", "martingale", "q95"]
#: What made each detector.
MADE = {
    "clock": "baseline",
    "random": "baseline",
    "knn-efficientnet": "EfficientNet-Lite0, public weights",
    "efficientnet-dynamics": "ours, on EfficientNet-Lite0, public weights",
    "frame-knn-own": "our encoder of patches, self-supervised",
    "patch-knn-own": "our encoder of patches, self-supervised",
    "patch-dynamics": "ours, on our encoder of patches",
    "patch-fusion": "ours, on our encoder of patches",
    "knn-resnet": "ResNet-18, public weights",
    "dino-patch": "ViT-S/16, public weights",
    "clip-sim": "CLIP ViT-B/32, public weights",
    **dict.fromkeys(["pred-ae", "prednet", "ldm", "lrdm", "rssm-ppm"], "preset small"),
}
#: The counterparts of Figures 3d to 3f: file, title, and which anomalies.
FIGURES = [
    ("images-all.svg", "all anomalies, both strengths", {}),
    ("images-action.svg", "anomalies of actions", {"anomaly_class": "action"}),
    ("images-observation.svg", "anomalies of observations", {"anomaly_class": "observation"}),
    ("images-tiny.svg", "tiny anomalies", {"strength": "tiny"}),
    ("images-strong.svg", "strong anomalies", {"strength": "strong"}),
]


def papers(found):
    """The rows of anomalies that the paper has, too."""
    return found.anomalies(POLICY).only(anomaly_class=PAPER)


def alike(environments, of):
    """What is the same in several environments, with the names of these."""
    found = {}
    for env in environments:
        found.setdefault(of(env), []).append(env["env"])
    return sorted((what, ", ".join(envs)) for what, envs in found.items())


def head(found):
    hardware = "".join(f"\n{envs}: {by}." for by, envs in alike(found.environments, lambda env: env.get("hardware", "")))
    lacks = alike(found.environments, lambda env: "; no ".join(env["missing"]))
    lacks = "".join(f"\nIn {envs} there is no {what}." for what, envs in lacks if what)
    missing = f"\nNot run yet: {', '.join(found.missing)}." if found.missing else ""
    return (
        "# The image benchmark\n\n"
        "Written by `python3 studies/images/page.py` from the tables of the environments; do not edit.\n\n"
        "Detectors see what the environment's first camera sees, not what the policy reads. Fifteen anomalies of the policy's signals "
        f"and of the environment, and nine camera faults, at two strengths.{missing}{lacks}\n"
        f"{found.measured('../../docs/reference/strengths.md', POLICY)}\n"
        "Numbers in brackets are 95 % intervals; anomalies of an environment count as one unit.\n"
        f"{tidy.OLDER}"
        "Published figures are those of Anomaly-Gym, whose environments, policies, images and strengths differ from ours: compare "
        f"orders, not digits.\n{hardware}\n\n```sh no-run: takes hours\n{found.commands()}\n```\n"
    )


def ran_in(found, detector):
    return sum(detector in env["detectors"] for env in found.environments)


def overview(found):
    lines, control = found.anomalies(POLICY), found.control(POLICY)
    without = papers(found)
    own = lambda d: without.only(detector=d)  # noqa: E731
    return (
        "## All environments\n\nMeans over the paper's anomalies, and in columns of their own over camera faults, which the paper does "
        "not have. Alarms are at the conformal threshold for 5 % of episodes. The control must be one half. Rows of different "
        "environments say little about one another; the differences further down do.\n\n"
    ) + table_of(found.detectors(), [
        ("detector", lambda d: f"`{d}`"),
        ("made with", lambda d: MADE.get(d, "as the campaign says")),
        ("environments", lambda d: ran_in(found, d)),
        ("AUROC matched, tiny", lambda d: estimate(own(d).only(strength="tiny").mean(MATCHED))),
        ("AUROC matched, strong", lambda d: estimate(own(d).only(strength="strong").mean(MATCHED))),
        ("AUROC local", lambda d: estimate(own(d).mean(LOCAL))),
        ("AUROC global", lambda d: estimate(own(d).mean(GLOBAL))),
        ("AUPR matched", lambda d: estimate(own(d).mean("aupr_matched"))),
        ("FPR95 matched", lambda d: estimate(own(d).mean("fpr95_matched"))),
        ("found in 20 steps", lambda d: estimate(own(d).mean("d20", ALARM))),
        ("AUROC matched, camera", lambda d: estimate(lines.only(detector=d, anomaly_class="camera").mean(MATCHED))),
        ("found in 20 steps, camera", lambda d: estimate(lines.only(detector=d, anomaly_class="camera").mean("d20", ALARM))),
        ("control", lambda d: estimate(control.only(detector=d).mean(MATCHED))),
        ("false alarms", lambda d: estimate(control.only(detector=d).mean("false_alarm_rate", ALARM))),
    ])


def classes(found):
    lines = found.anomalies(POLICY)
    mean = lambda d, name: estimate(lines.only(detector=d, anomaly_class=name).mean(MATCHED))  # noqa: E731
    rows = [[f"`{d}`", *(mean(d, name) for name in CLASSES)] for d in found.detectors()]
    return f"## By class\n\nMatched AUROC.\n\n{table(['detector', *CLASSES], rows)}"


def differences(found):
    """By how much our default is ahead of every other detector in the same cells."""
    lines = found.anomalies(POLICY)

    def ahead(d, part):
        part = lines.only(anomaly_class=part)
        return signed(tidy.mean(part.only(detector=OURS).against(part.only(detector=d), MATCHED), (-1.0, 1.0)))

    return (
        f"## `{OURS}` against the others\n\nDifference of the matched AUROC in the same environment, anomaly and strength, over the "
        "environments in which both were run.\n\n"
    ) + table_of([d for d in found.detectors() if d != OURS], [
        ("over", lambda d: f"`{d}`"),
        ("environments", lambda d: ran_in(found, d)),
        ("all", lambda d: ahead(d, CLASSES)),
        ("the paper's anomalies", lambda d: ahead(d, PAPER)),
        ("camera", lambda d: ahead(d, ["camera"])),
    ])


def shared(found):
    """The environments in which the paper's best detector was run, and the detectors that were run in all of them."""
    there = [env for env in found.environments if THEIRS in env["detectors"]]
    return [env["env"] for env in there], [d for d in found.detectors() if all(d in env["detectors"] for env in there)]


def distributions(found):
    """Figures 3d to 3f: how local AUROC is distributed, and the order of detectors beside the published one."""
    envs, everywhere = shared(found)
    lines, theirs = papers(found).only(env=envs), published(13).only(env=envs)
    strengths = [("all", ["tiny", "strong"]), ("tiny", ["tiny"]), ("strong", ["strong"])]
    names = list(dict.fromkeys([*everywhere, *theirs.values("detector")]))
    left_out = [env["env"] for env in found.environments if env["env"] not in envs]

    def said(d, strength):
        known = [row[LOCAL] for row in theirs.only(detector=d, strength=strength)]
        return sum(known) / len(known) if known else NAN

    def kind(d, name):
        return estimate(lines.only(detector=d, anomaly_class=name).mean(LOCAL))

    columns = [("detector", lambda d: f"`{d}`")]
    for title, strength in strengths:
        columns.append((title, lambda d, s=strength: both(said(d, s), lines.only(detector=d, strength=s).mean(LOCAL))))
    columns += [(f"{name}, ours", lambda d, name=name: kind(d, name)) for name in PAPER]
    both_have = [d for d in theirs.values("detector") if d in everywhere]
    orders = []
    for title, strength in strengths:
        a = [said(d, strength) for d in both_have]
        b = [value(lines.only(detector=d, strength=strength), LOCAL) for d in both_have]
        orders.append([title, ordered(both_have, a), ordered(both_have, b), kendall(a, b)])
    images = "\n\n".join(f"![Local AUROC from images, {title}](../../docs/figures/{file})" for file, title, _ in FIGURES)
    return (
        "## Figures 3d to 3f: distributions\n\nLocal AUROC, as in the paper, over cells of environment, anomaly and strength, the "
        "paper's anomalies only: whiskers from 5 to 95 %, boxes from 25 to 75 %, a line at the median, a triangle at the mean. Figure 3d "
        "is over all of them, 3e over one class (the paper's text names those of actions and of observations for 3b and 3e), 3f over one "
        "strength. Detectors are ordered by their mean. Everything in this section is over the {} environments in which `{}` was run, "
        "that is without {}, and of detectors that were run in all of them. `python3 studies/images/page.py --figures` writes the "
        "figures.\n\n".format(len(envs), THEIRS, ", ".join(left_out))
        + f"{images}\n\n"
        "The figures of the paper have no numbers. Beside ours stand the means of the rows of its Table 13, each environment and "
        "strength once; its text has none of sap-goal1 at tiny, three of sap-goal2 at strong, and one of sap-goal1 at strong. "
        "By class of anomalies the paper has numbers in Table 3 alone, below. Published / ours:\n\n"
        f"{table_of(names, columns)}\n"
        "The paper's detectors that were run, from best to worst by these means; τ is Kendall's rank correlation, 1 for the same order. "
        "Local AUROC rewards what rises with time: `clock` has 1.00.\n\n"
        f"{table(['strength', 'order, published', 'order, ours', 'τ'], orders)}"
    )


def draw(found):
    envs, everywhere = shared(found)
    rows = papers(found).only(env=envs).metric(LOCAL)
    for file, title, keep in FIGURES:
        part = rows.only(**keep)
        groups = [(d, [r["value"] for r in part.only(detector=d) if math.isfinite(r["value"])]) for d in everywhere]
        groups = sorted((g for g in groups if g[1]), key=lambda g: -sum(g[1]) / len(g[1]))
        tidy.boxes(f"docs/figures/{file}", f"Local AUROC from images, {title}", groups, axis=(0.0, 1.0))


def by_family(found):
    """The image columns of Table 3."""
    return (
        f"## Table 3, images: `{THEIRS}` by kind of anomaly\n\nThe row `car` is of a surrogate here. In urr-reach `{THEIRS}` was not run, "
        f"so its rows have published numbers alone.\n\n{families(papers(found), published('3-images'), 'LRDM', THEIRS, OURS)}"
    )


def policies(found):
    """Table 5c: the column of the policy that was run."""
    theirs, envs = published("5c"), ["mjc-cartpole-swingup", "sap-goal0", "urm-reach"]
    lines = papers(found).only(env=envs)
    columns = [("detector", lambda d: f"`{d}`")]
    for policy in ["sac", "td3", "tqc"]:
        own = lambda d, policy=policy: lines.only(detector=d, policy=policy).mean(LOCAL)  # noqa: E731
        columns.append((policy.upper(), lambda d, policy=policy, own=own: both(find(theirs, LOCAL, policy=policy, detector=d), own(d))))
    return (
        f"## Table 5c: another policy\n\nLocal AUROC, published / ours, in {', '.join(envs)}, tiny and strong. Images of SAC and TD3 were "
        f"not run here.\n\n{table_of(theirs.values('detector'), columns)}"
    )


def delays(found):
    """Delay and false alarms by threshold, which the paper has for vectors only."""
    return (
        "## Timing\n\nMeans over the paper's anomalies at both strengths, at the thresholds of the paper's Table 4, which has no rows of "
        "images, and at `conformal`, whose false alarms are promised (5 % of episodes). D5, D10 and D20 are the shares of anomalies "
        "that have an alarm within so many steps after the onset. The mean of median delays is over the cells that have one, and *not "
        "reached* is the share of those that have none. A threshold with many false alarms finds more: compare detectors at `conformal`."
        f"\n\n{timing(papers(found), Rows(), found.detectors())}"
    )


def alarms(found):
    """What is found and what is raised in vain in every environment."""
    lines = found.anomalies(POLICY)
    places = [(env["env"], d) for env in found.environments for d in env["detectors"]]

    def d20(place, kinds, strength):
        own = lines.only(env=place[0], detector=place[1], anomaly_class=kinds, strength=strength)
        return estimate(own.mean("d20", ALARM))

    def nominal(place, rule):
        return tidy.within(found.coverage(policy=POLICY, env=place[0], detector=place[1], threshold=rule))

    cells = found.coverage(policy=POLICY, threshold=RULES[:4])
    beyond = sum(c["alarms"] > c["most"] for c in cells)
    return (
        "## Found in 20 steps, and false alarms, by environment\n\nAt the left the share of anomalies with an alarm within 20 steps at "
        "the conformal threshold. At the right the share of fresh nominal episodes with an alarm, each rule with the exact interval of "
        f"its counts. Promised are at most 5 % on average over calibrations by {code(RULES[:4])}, nothing by `{RULES[4]}`; a single "
        f"calibration may get more for good. Of {len(cells)} combinations of environment, detector and rule {beyond} have more alarms "
        "than the .975 quantile of what a rule gets that keeps its promise; detectors share episodes, so they stray together. A dash "
        "means that nothing was counted: `prednet` in nine environments, and `ldm`, `lrdm` and `rssm-ppm` outside of the particle "
        "environments, were run before fresh episodes were counted; and car-lanekeep has too few episodes for "
        "some rules.\n\n"
    ) + table_of(places, [
        ("environment", lambda place: place[0]),
        ("detector", lambda place: f"`{place[1]}`"),
        ("D20, tiny", lambda place: d20(place, PAPER, "tiny")),
        ("D20, strong", lambda place: d20(place, PAPER, "strong")),
        ("D20, camera", lambda place: d20(place, "camera", ["tiny", "strong"])),
        *((f"`{rule}`", lambda place, rule=rule: nominal(place, rule)) for rule in RULES),
    ])


def environments(found):
    """Table 13: environment by environment, ours beside the published numbers."""
    theirs, lines = published(13), papers(found)
    text = (
        "## Table 13: environment by environment\n\nMeans over the paper's anomalies, published / ours; the paper's numbers are means "
        "over its anomalies, too, without intervals. Matched numbers are ours alone. AUPR depends on the share of anomalous steps, so "
        "`random` says what chance has here. The paper's rows for sap-goal1 at tiny and some of sap-goal2 at strong are not in the text "
        "of its table.\n"
    )
    auroc = [("local", LOCAL), ("global", GLOBAL), ("matched", MATCHED)]
    others = [(f"{title} {which}", f"{title.lower()}_{which}") for title in ("AUPR", "FPR95") for which in ("local", "global")]
    for env in found.environments:
        own, paper = lines.only(env=env["env"]), theirs.only(env=env["env"])
        names = list(dict.fromkeys([*env["detectors"], *(row["detector"] for row in paper)]))
        caution = f"{CAUTIONS[env['env']]}\n\n" if env["env"] in CAUTIONS else ""
        text += f"\n### {env['env']}\n\n{caution}{detail('AUROC', names, own, paper, auroc)}\n"
        text += detail("AUPR and FPR95", names, own, paper, others)
    return text


def main():
    found = tidy.Suite(RESULTS, ORDER)
    if "--figures" in sys.argv:
        draw(found)
    sections = [
        head(found), overview(found), classes(found), differences(found), distributions(found), by_family(found), policies(found),
        delays(found), alarms(found), environments(found), tidy.sentences(RESULTS / "text.txt").WEIGHTS,
    ]
    tidy.write("studies/images/README.md", "\n".join(sections))


if __name__ == "__main__":
    main()
