"""Every fit says how far it is."""

import json

from offnominal import _engine, detectors, episodes


class Shown:
    """Hears what the engine says."""

    def __init__(self):
        self.tasks = {}

    def begin(self, what, done, total):
        self.what, self.tasks[what] = what, [(done, total)]
        return self

    def update(self, done, total):
        self.tasks[self.what].append((done, total))

    def note(self, line):
        pass

    def message(self, text):
        pass

    def close(self):
        self.is_closed = True


class Failing:
    """A display that cannot."""

    def begin(self, *given):
        raise RuntimeError("no terminal")

    note = begin


def test_a_fit_counts_per_cents():
    played = episodes.collect("sap-goal1", "tqc", episodes=10, seed=1)
    shown, train = Shown(), episodes.pairs(played)
    options = json.dumps({"hidden": [16], "training": {"epochs": 50}})
    scores = [
        _engine.fit("mlp-dm", options, train, train, 0, None, display).score_episode(*train[0]).tolist()
        for display in (shown, None, Failing())
    ]
    counted = shown.tasks["fit of mlp-dm, %"]
    assert counted[0] == (0, 100) and len(counted) > 40 and counted == sorted(counted) and shown.is_closed
    assert scores[0] == scores[1] == scores[2], "whoever looks, the bits are the same"
    assert detectors.MlpDm(hidden=[16], training={"epochs": 50}).fit(train, train, progress=False).score(train[0]).tolist() == scores[0]
