"""The page of the suite `images`, studies/images/README.md, beside Table 13 of Anomaly-Gym.

    python3 studies/images/page.py

Needs pyarrow and SciPy.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from tidy import NAN, estimate, signed, table, table_of, two

RESULTS = tidy.ROOT / "studies/images"
ORDER = ["mjc-cartpole-swingup", "mjc-reacher3d", "mjc-half-cheetah", "sap-goal0", "sap-goal1", "sap-goal2", "urm-reach",
         "urm-pnp", "urr-reach", "car-lanekeep"]
POLICY, OURS = "tqc", "patch-fusion"
MATCHED, LOCAL, ALARM = "auroc_matched", "auroc_local", "conformal"
CLASSES = ["observation", "action", "dynamics", "camera"]
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
        "Numbers in brackets are 95 % intervals; anomalies of an environment count as one unit.\n"
        f"{tidy.OLDER}"
        "Published figures are those of Anomaly-Gym, whose environments, policies, images and strengths differ from ours: compare "
        f"orders, not digits.\n{hardware}\n\n```sh no-run: takes hours\n{found.commands()}\n```\n"
    )


def ran_in(found, detector):
    return sum(detector in env["detectors"] for env in found.environments)


def overview(found):
    lines, control = found.anomalies(POLICY), found.control(POLICY)
    without = lines.only(anomaly_class=CLASSES[:3])
    own = lambda d: without.only(detector=d)  # noqa: E731
    return (
        "## All environments\n\nMeans over the paper's anomalies, and in a column of their own over camera faults, which the paper does "
        "not have. The control must be one half. Rows of different environments say little about one another; the differences further "
        "down do.\n\n"
    ) + table_of(found.detectors(), [
        ("detector", lambda d: f"`{d}`"),
        ("made with", lambda d: MADE.get(d, "as the campaign says")),
        ("environments", lambda d: ran_in(found, d)),
        ("AUROC matched, tiny", lambda d: estimate(own(d).only(strength="tiny").mean(MATCHED))),
        ("AUROC matched, strong", lambda d: estimate(own(d).only(strength="strong").mean(MATCHED))),
        ("AUROC local", lambda d: estimate(own(d).mean(LOCAL))),
        ("AUROC global", lambda d: estimate(own(d).mean("auroc_global"))),
        ("AUROC matched, camera", lambda d: estimate(lines.only(detector=d, anomaly_class="camera").mean(MATCHED))),
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
        ("the paper's anomalies", lambda d: ahead(d, CLASSES[:3])),
        ("camera", lambda d: ahead(d, ["camera"])),
    ])


def environments(found):
    """One table per environment, with the published figures."""
    theirs = tidy.Rows(tidy.read(tidy.ROOT / "studies/published/anomaly-gym-table13.csv"))
    lines = found.anomalies(POLICY).only(anomaly_class=CLASSES[:3])
    text = (
        "## Beside Table 13\n\nMeans over the paper's anomalies. The paper's rows for sap-goal1 at tiny and some of sap-goal2 at strong "
        "are not in the text of its table.\n"
    )
    titles = [f"{strength}: {what}" for strength in ("tiny", "strong") for what in ("matched", "local", "local, paper")]
    for env in found.environments:
        own, paper = lines.only(env=env["env"]), theirs.only(env=env["env"])
        rows = []
        for d in dict.fromkeys([*env["detectors"], *(row["detector"] for row in paper)]):
            cells = [f"`{d}`"]
            for strength in ("tiny", "strong"):
                mine = own.only(detector=d, strength=strength)
                said = paper.only(detector=d, strength=strength)
                cells += [estimate(mine.mean(MATCHED)), estimate(mine.mean(LOCAL)), two(said[0][LOCAL] if said else NAN)]
            rows.append(cells)
        text += f"\n### {env['env']}\n\n{table(['detector', *titles], rows)}"
    return text


def main():
    found = tidy.Suite(RESULTS, ORDER)
    sections = [head(found), overview(found), classes(found), differences(found), environments(found)]
    tidy.write("studies/images/README.md", "\n".join(sections))


if __name__ == "__main__":
    main()
