"""The page of the suite `transfer`, docs/explanations/transfer.md: monitors that were fitted on one policy and watch another.

    python3 studies/transfer/page.py

Needs pyarrow and SciPy.
"""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from tidy import estimate, table_of

RESULTS = tidy.ROOT / "studies/transfer"
ORDER = ["mjc-cartpole-swingup", "sap-goal0", "urm-reach"]
POLICIES, DETECTORS = ["tqc", "sac", "td3"], ["knn", "mlp-dm", "residual-views"]
MATCHED, ALARM = "auroc_matched", "conformal"
#: A detector, the policy on which it is fitted, and the policy that it watches.
PAIRS = [(d, fitted, watched) for fitted, watched in itertools.permutations(POLICIES, 2) for d in DETECTORS]
#: The name in results of each way to go on when the policy is exchanged.
AS_IT_WAS, RECALIBRATED, ANEW = "{0}({1})", "{0}({1}) recalibrated", "{0}"


def counted(found, pair, way):
    """What was counted in fresh nominal episodes, in each environment that is there."""
    return found.coverage(policy=pair[2], detector=way.format(*pair), threshold=ALARM)


def who(pair):
    return f"`{pair[0]}` fitted on {pair[1].upper()} watches {pair[2].upper()}"


def head(found):
    return (
        "# Monitors of exchanged policies\n\n"
        "Written by `python3 studies/transfer/page.py` from the tables of the environments; do not edit.\n\n"
        "A monitor is fitted on nominal episodes of one policy, and another policy is put in its place. Three ways to go on: *as it "
        "was*, with the threshold of the policy that it was fitted on; *recalibrated*, with a threshold from nominal episodes of the "
        f"policy that it watches now; *fitted anew* on that policy.{found.lacking()}\n"
        f"{found.measured('../reference/strengths.md', *POLICIES)}\n"
        f"{tidy.OLDER}"
        "Numbers in brackets are 95 % intervals. Thresholds are conformal, for 5 % of episodes. Anomalies have the magnitudes that were "
        f"calibrated for TQC.\n\n```sh no-run: takes half an hour\n{found.commands()}\n```\n"
    )


def promise(found):
    """Does the promise hold, on average over environments and pairs of policies?"""

    def cells(d, way):
        return [c for pair in PAIRS if pair[0] == d for c in counted(found, pair, way)]

    def mean(d, way):
        points = [(*tidy.share(c["alarms"], c["watched"]), i) for i, c in enumerate(cells(d, way))]
        return estimate(tidy.mean(points, tidy.SHARE))

    def beyond(d, way):
        return f"{sum(c['alarms'] > c['most'] for c in cells(d, way))} of {len(cells(d, way))}"

    return (
        "## Does the promise hold?\n\nShare of fresh nominal episodes of the watched policy with an alarm; means over environments and "
        "pairs of policies. \"Beyond\" counts calibrations whose false-alarm rate exceeds the 97.5 % quantile expected if the promise "
        "holds: 2.5 % of them by chance.\n\n"
    ) + table_of(DETECTORS, [
        ("detector", lambda d: f"`{d}`"),
        ("as it was", lambda d: mean(d, AS_IT_WAS)),
        ("beyond", lambda d: beyond(d, AS_IT_WAS)),
        ("recalibrated", lambda d: mean(d, RECALIBRATED)),
        ("beyond", lambda d: beyond(d, RECALIBRATED)),
        ("fitted anew", lambda d: mean(d, ANEW)),
    ])


def detection(found):
    """What is found, pair by pair."""
    own = lambda pair, way: found.anomalies(pair[2]).only(detector=way.format(*pair))  # noqa: E731
    matched = lambda pair, way: estimate(own(pair, way).mean(MATCHED))  # noqa: E731
    d20 = lambda pair, way: estimate(own(pair, way).mean("d20", ALARM))  # noqa: E731
    return (
        "## Does detection hold?\n\nMeans over environments, anomalies and strengths. A threshold that is too low finds more and raises "
        "more false alarms; the AUROC does not depend on it.\n\n"
    ) + table_of(PAIRS, [
        ("", who),
        ("AUROC matched", lambda pair: matched(pair, AS_IT_WAS)),
        ("fitted anew", lambda pair: matched(pair, ANEW)),
        ("found in 20 steps, as it was", lambda pair: d20(pair, AS_IT_WAS)),
        ("recalibrated", lambda pair: d20(pair, RECALIBRATED)),
        ("fitted anew", lambda pair: d20(pair, ANEW)),
    ])


def alarms(found):
    """False alarms in every environment."""
    places = [(env["env"], pair) for env in found.environments for pair in PAIRS]
    share = lambda place, way: tidy.within(counted(found, place[1], way).only(env=place[0]))  # noqa: E731
    return (
        "## False alarms\n\nShare of fresh nominal episodes of the watched policy with an alarm.\n\n"
    ) + table_of(places, [
        ("environment", lambda place: place[0]),
        ("", lambda place: who(place[1])),
        ("as it was", lambda place: share(place, AS_IT_WAS)),
        ("recalibrated", lambda place: share(place, RECALIBRATED)),
        ("fitted anew", lambda place: share(place, ANEW)),
    ])


def main():
    found = tidy.Suite(RESULTS, ORDER)
    tidy.write("docs/explanations/transfer.md", "\n".join([head(found), promise(found), detection(found), alarms(found)]))


if __name__ == "__main__":
    main()
