"""Watch a policy with at most 5 % false alarms per episode, and see how soon noisy sensors are noticed."""

import numpy as np

import offnominal
from offnominal import detectors

ENV, POLICY = "car-lanekeep", "tqc"

nominal = offnominal.collect(ENV, POLICY, episodes=60, seed=1)
monitor = detectors.Knn().fit(nominal[:30], nominal[30:40])

# The conformal threshold: with n episodes aside, the k-th largest of their highest scores is exceeded by the highest
# score of a further nominal episode with a probability of at most k / (n + 1).
highest = np.sort([monitor.score(episode).max() for episode in nominal[40:]])
threshold = highest[-max(1, int(0.05 * (len(highest) + 1)))]

env = offnominal.World(ENV, anomaly="obs-noise", strength="strong", onset=100)
policy = offnominal.Policy(ENV, POLICY)
obs, _ = env.reset(seed=7)
monitor.reset()
is_over, step = False, 0
while not is_over:
    action = policy(obs)
    next_obs, reward, terminated, truncated, info = env.step(action)
    score = monitor.step(obs, action, next_obs)
    if score > threshold:
        print(f"alarm at step {step}: score {score:.2f} above {threshold:.2f}; the anomaly is active: {info['label']}")
        break
    obs, is_over, step = next_obs, terminated or truncated, step + 1
else:
    print(f"the episode ended after {step} steps without an alarm")
