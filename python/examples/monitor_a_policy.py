"""Watch a policy with 1 % false alarms per episode, and see how soon noisy sensors are noticed."""

import offnominal
from offnominal import alarms, detectors

ENV, POLICY = "car-lanekeep", "tqc"

nominal = offnominal.collect(ENV, POLICY, episodes=40, seed=1)
aside = offnominal.collect(ENV, POLICY, episodes=110, seed=2)
watch = alarms.fit(nominal, aside, detectors.Knn(), alpha=0.01, out="car.monitor", diagnosis=False)
promise = watch.about["threshold"]
share = promise["false_alarms"]["value"]
print(f"{promise['rule']} threshold {promise['value']:.2f}: false alarms in {share:.1%} of episodes")

env = offnominal.Environment(ENV, anomaly="obs-noise", strength="strong", onset=100)
policy = offnominal.Policy(ENV, POLICY)
obs, info = env.reset(seed=7)
is_over = False
while not is_over:
    action = policy(obs)
    verdict = watch.step(obs, action)
    if verdict is not None and verdict.is_alarm:
        print(f"alarm at step {verdict.step}: {verdict.score:.2f}; the anomaly is active: {info['label']}")
        break
    obs, _, terminated, truncated, info = env.step(action)
    is_over = terminated or truncated
else:
    print("the episode ended without an alarm")
