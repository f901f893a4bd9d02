"""How often does a policy fail, and how sure can one be? With and without something that goes wrong."""

import offnominal

ENV, POLICY, EPISODES = "car-lanekeep", "tqc", 100

nominal = offnominal.evaluate(ENV, POLICY, episodes=EPISODES, seed=1)["success"]
print(f"nominal: fails in {1 - nominal['value']:.3f} [{1 - nominal['high']:.3f}, {1 - nominal['low']:.3f}]")
print(f"         ({nominal['n']} episodes, {nominal['level']:.0%} interval, {nominal['method']})")

disturbed = offnominal.collect(
    ENV, POLICY, episodes=EPISODES, seed=1, anomaly="obs-offset", strength="extreme"
)
pairs = [(i, twin) for i, twin in enumerate(disturbed.twins) if twin is not None]
broken = sum(disturbed[twin].success is True and disturbed[i].success is False for i, twin in pairs)
mended = sum(disturbed[twin].success is False and disturbed[i].success is True for i, twin in pairs)
print(f"with biased sensors from a random step on: of {len(pairs)} episodes {broken} fail that did not without it, {mended} the other way")
