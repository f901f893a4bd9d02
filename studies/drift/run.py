"""What benign drift costs a monitor, and what three remedies give back: false alarms, and the delay at real faults.

    python3 studies/drift/run.py [--only ENV:DRIFT,…] [--replicates N]

A quantity drifts linearly over 300 nominal episodes and then stays for 100: dry friction (wear), the mass of every body (load), or
the bias of every sensor (temperature), in environments with the noise `datasheet`. It ends where the fixed threshold has an
alarm in 70 % to 90 % of 40 pilot episodes, found by doubling and halving on seeds of their own. In each replicate a monitor
(`residual-views`, alpha = .05) is fitted on 100 nominal episodes and calibrated by 100 others, both without drift. Compared are

- fixed: the monitor as it was fitted;
- follows: the same, with every nominal episode confirmed (`Watch.confirm`: the last 50 set the threshold, tolerance 3);
- refit: a monitor fitted anew at the end of the drift, on 100 episodes and calibrated by 100;
- stated: a monitor fitted and calibrated on as many episodes in which the drift is anywhere between none and its end, uniformly.

`false_alarms.csv` has the share of nominal episodes with an alarm: over the second half of the ramp, over the plateau (both for what
is at work then), and of 100 fresh episodes at the end. `delays.csv` has the mean delay of alarms at faults after the drift,
restricted to 100 steps, where each anomaly of the environment at the strengths `medium` and `strong` is met from a quarter of the
horizon on in 4 episodes; and the same for the fixed monitor before the drift. Rows that are there are not made again. `page.py`
makes the tables of `README.md`. Needs the Python package.
"""

import argparse
import csv
import pathlib

import numpy as np

import offnominal
from offnominal import alarms
from offnominal.envs import Environment

HERE = pathlib.Path(__file__).resolve().parent
CASES = [
    ("mjc-reacher3d", "friction"),
    ("mjc-reacher3d", "mass"),
    ("mjc-cartpole-swingup", "friction"),
    ("mjc-cartpole-swingup", "bias"),
]
NOMINAL = {"friction": 0.0, "mass": 1.0}
FIRST = {"friction": 0.02, "mass": 0.05, "bias": 0.002}
ALPHA, TRAIN, CALIBRATION, RAMP, PLATEAU, FRESH, FAULTS, LONGEST = 0.05, 100, 100, 300, 100, 100, 4, 100
PILOT, PILOT_SEED, MOST = 40, 9, (0.7, 0.9)
SEED = 6000


class World:
    """An environment with its policy, and a quantity in it that drifts."""

    def __init__(self, env, drift):
        self.id, self.drift = f"{env}?noise=datasheet", drift
        self.nominal, self.policy = Environment(self.id), offnominal.Policy(env, "tqc")
        self.unit = np.zeros(1, np.float32)

    def play(self, seed, amount, faulty=None):
        """Observations, commands, and the first faulty step."""
        env = faulty or self.nominal
        obs, info = env.reset(seed=seed)
        bias = amount * self.unit if self.drift == "bias" else 0.0
        if self.drift != "bias" and amount:
            env.set_parameter(self.drift, NOMINAL[self.drift] + amount)
        observations, commands, ended = [obs + bias], [], False
        while not ended:
            commands.append(np.asarray(self.policy(np.asarray(observations[-1], np.float32)), np.float32))
            obs, _, terminated, truncated, _ = env.step(commands[-1])
            observations.append(obs + bias)
            ended = terminated or truncated
        return np.asarray(observations, np.float32), np.asarray(commands, np.float32), info.get("onset")

    def many(self, seed, n, amount=lambda i: 0.0):
        return [self.play(seed + i, amount(i)) for i in range(n)]


def fitted(world, train, calibration, seed):
    """A monitor of episodes."""
    views = [[episode[:2] for episode in part] for part in (train, calibration)]
    return alarms.fit(*views, env=world.id, policy="tqc", alpha=ALPHA, diagnosis=False, seed=seed, progress=False)


def exceedances(watch, episode):
    """Which steps are above the threshold."""
    watch.reset()
    observations, commands, _ = episode
    found = [watch.step(obs, command) for obs, command in zip(observations, commands)]
    found.append(watch.step(observations[-1]))
    return np.array([v.statistic > v.threshold for v in found if v is not None])


def share(watch, episodes):
    """The share of episodes with an alarm."""
    return float(np.mean([exceedances(watch, episode).any() for episode in episodes]))


def end_of(world):
    """The drift with which the fixed threshold has an alarm in most episodes."""
    seed = PILOT_SEED * 1_000_000
    train = world.many(seed, TRAIN)
    world.unit = np.concatenate([episode[0] for episode in train]).std(axis=0)
    watch = fitted(world, train, world.many(seed + 1000, CALIBRATION), PILOT_SEED)
    low, high = 0.0, FIRST[world.drift]

    def alarming(amount):
        return share(watch, world.many(seed + 2000, PILOT, lambda _: amount))

    while alarming(high) < MOST[0]:
        low, high = high, 2 * high
    for _ in range(6):
        middle = (low + high) / 2
        found = alarming(middle)
        if MOST[0] <= found <= MOST[1]:
            return middle
        low, high = (middle, high) if found < MOST[0] else (low, middle)
    return middle


def faults(world, seed, end):
    """Episodes of each fault, before the drift and after it, with the same seeds."""
    onset = world.nominal.horizon // 4
    for anomaly in world.nominal.anomalies():
        if anomaly.startswith("cam-") or anomaly == f"dyn-{world.drift}":
            continue
        for strength in ("medium", "strong"):
            try:
                env = Environment(world.id, anomaly=anomaly, strength=strength, onset=onset)
            except ValueError:
                continue  # It was not calibrated, as it changes nothing there.
            for i in range(FAULTS):
                yield anomaly, world.play(seed + i, 0.0, env), world.play(seed + i, end, env)


def delay(watch, episode):
    """Steps from the onset to the alarm, at most `LONGEST`; nothing if the episode ended before the onset."""
    after = exceedances(watch, episode)[episode[2] :]
    if len(after) == 0:
        return None
    return min(int(after.argmax()), LONGEST) if after.any() else LONGEST


def replicate(world, end, number):
    """Shares and delays of one replicate."""
    seed = (SEED + number) * 1_000_000
    train, calibration = world.many(seed, TRAIN), world.many(seed + 1000, CALIBRATION)
    fixed, follows = fitted(world, train, calibration, number), fitted(world, train, calibration, number)
    alarmed = {"fixed": [], "follows": []}
    for i in range(RAMP + PLATEAU):
        episode = world.play(seed + 2000 + i, end * min(i / RAMP, 1.0))
        alarmed["fixed"].append(exceedances(fixed, episode).any())
        alarmed["follows"].append(exceedances(follows, episode).any())
        follows.confirm()
    late = world.many(seed + 3000, TRAIN + CALIBRATION, lambda _: end)
    anywhere = np.random.default_rng(number).uniform(0.0, end, TRAIN + CALIBRATION)
    mixed = world.many(seed + 4000, TRAIN + CALIBRATION, lambda i: float(anywhere[i]))
    watches = {
        "fixed": fixed,
        "follows": follows,
        "refit": fitted(world, late[:TRAIN], late[TRAIN:], number),
        "stated": fitted(world, mixed[:TRAIN], mixed[TRAIN:], number),
    }
    fresh = world.many(seed + 5000, FRESH, lambda _: end)
    shares = {name: {"end": share(watch, fresh)} for name, watch in watches.items()}
    for name, all_alarms in alarmed.items():
        shares[name] |= {"ramp": np.mean(all_alarms[RAMP // 2 : RAMP]), "plateau": np.mean(all_alarms[RAMP:])}
    delays = {name: [] for name in ("before", *watches)}
    for _, calm, drifted in faults(world, seed + 6000, end):
        delays["before"].append(delay(fixed, calm))
        for name, watch in watches.items():
            delays[name].append(delay(watch, drifted))
    return shares, delays


def add(path, rows):
    """Appends rows, whole."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def known(path):
    """Which replicates are there."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {(row["env"], row["drift"], int(row["replicate"])) for row in csv.DictReader(file)}


def main():
    """All cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cases as ENV:DRIFT, with commas between")
    parser.add_argument("--replicates", type=int, default=5)
    args = parser.parse_args()
    wanted = [tuple(case.split(":")) for case in args.only.split(",")] if args.only else CASES
    there = known(HERE / "delays.csv")
    for env, drift in wanted:
        left = [n for n in range(args.replicates) if (env, drift, n) not in there]
        if not left:
            continue
        world = World(env, drift)
        end = end_of(world)
        for number in left:
            shares, delays = replicate(world, end, number)
            about = {"env": env, "drift": drift, "end": f"{end:.6g}", "replicate": number}
            add(
                HERE / "false_alarms.csv",
                [
                    about | {"monitor": name, "when": when, "share": f"{value:.4f}"}
                    for name, found in shares.items()
                    for when, value in found.items()
                ],
            )
            found = {name: [d for d in steps if d is not None] for name, steps in delays.items()}
            add(
                HERE / "delays.csv",
                [
                    about
                    | {
                        "monitor": name,
                        "episodes": len(steps),
                        "mean_delay": f"{np.mean(steps):.3f}",
                        "detected": f"{np.mean(np.array(steps) < LONGEST):.4f}",
                    }
                    for name, steps in found.items()
                ],
            )
            print(env, drift, number, "done", flush=True)


if __name__ == "__main__":
    main()
