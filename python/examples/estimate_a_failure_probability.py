"""How often does a policy fail, and how sure can one be? With and without something that goes wrong."""

from typing import Any

import offnominal

ENV, POLICY, EPISODES = "car-lanekeep", "tqc", 100

#: What goes wrong from a random step on, and how strongly.
ANOMALIES = {"obs-offset": "extreme", "dyn-tyre-friction": "strong"}


def failures(success: dict[str, Any]) -> str:
    """The share of failures with its interval, which is exact for this many independent episodes."""
    value, low, high = (1.0 - success[key] for key in ("value", "high", "low"))
    return f"{value:.3f} [{low:.3f}, {high:.3f}] ({success['n']} episodes, {success['level']:.0%}, {success['method']})"


def changed(disturbed: offnominal.Dataset) -> tuple[int, int]:
    """Of the episodes with a nominal twin: how many fail that did not without the anomaly, and the other way round."""
    outcomes = [(disturbed[i].success, disturbed[twin].success) for i, twin in enumerate(disturbed.twins) if twin is not None]
    return outcomes.count((False, True)), outcomes.count((True, False))


def main() -> None:
    nominal = offnominal.evaluate(ENV, POLICY, episodes=EPISODES, seed=1)
    assert nominal["success"] is not None, "this environment says what success is"
    print(f"nominal: fails in {failures(nominal['success'])}")
    for anomaly, strength in ANOMALIES.items():
        disturbed = offnominal.collect(ENV, POLICY, episodes=EPISODES, seed=1, anomaly=anomaly, strength=strength)
        broken, mended = changed(disturbed)
        print(f"{strength} {anomaly}: of {EPISODES} episodes {broken} fail that did not without it, {mended} the other way")


if __name__ == "__main__":
    main()
