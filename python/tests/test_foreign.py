"""Environments of Gymnasium, hosted for the engine by processes of Python."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import offnominal

#: Models of Stable-Baselines3.
SB3 = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3"

#: Environments that misbehave, as a module of somebody's project.
ODD = '''
"""Environments that misbehave."""
import os
import time
import gymnasium
import numpy as np
from gymnasium import spaces


class Odd(gymnasium.Env):
    """Counts; does something odd in the third step of every second episode of its process."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(3, start=-1)
    started = 0

    def __init__(self, odd="nothing", every=2):
        self.odd, self.every = odd, every

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        Odd.started += 1
        self.t, self.sum, self.is_odd = 0, 0.0, Odd.started % self.every == 0
        return np.array([0, 0], np.float32), {}

    def step(self, action):
        self.t, self.sum = self.t + 1, self.sum + action
        if self.is_odd and self.t == 3:
            getattr(self, self.odd)()
        return np.array([self.t, self.sum], np.float32), 1.0, self.t >= 9, self.odd == "cuts" and self.t == 3, {
            "is_success": self.sum > 0
        }

    def cuts(self):
        pass

    def nothing(self):
        pass

    def hangs(self):
        time.sleep(60)

    def raises(self):
        raise ArithmeticError("of my own")

    def asserts(self):
        assert self.t < 0

    def dies(self):
        print("something terrible", flush=True)
        os._exit(7)


class Sick(gymnasium.Env):
    """One number goes wrong: at the reset, in an observation, in a reward, or only in the sum of rewards."""

    metadata = {"observation_names": ["level", "flow"], "action_names": ["valve"]}
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, sick="reset", value="nan"):
        self.sick, self.value = sick, float(value)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.array([0, self.value if self.sick == "reset" else 0], np.float32), {"is_success": True}

    def step(self, action):
        self.t += 1
        is_sick = self.t == 3
        obs = np.array([self.t, self.value if self.sick == "obs" and is_sick else 0], np.float32)
        reward = 1e308 if self.sick == "sum" else self.value if self.sick == "reward" and is_sick else 1.0
        return obs, reward, False, False, {"is_success": True}


class Keyed(gymnasium.Env):
    """Observations by name."""

    observation_space = spaces.Dict(
        {"tank": spaces.Dict({"level": spaces.Box(0, 1, (), np.float32)}), "flows": spaces.Box(0, 1, (2,), np.float32)}
    )
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 1.0, False, False, {}


class Slow(gymnasium.Env):
    """Takes its time where it is told to."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, make=0.0, step=0.0):
        print("made", flush=True)
        time.sleep(make)
        self.secs = step

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        time.sleep(self.secs)
        return np.zeros(1, np.float32), 1.0, False, False, {}


class Loud(Slow):
    """Says a great deal."""

    def step(self, action):
        for _ in range(20):
            print("x" * 100_000)
        return super().step(action)


class Wide(Odd):
    """An image in colour: its planes are red = t, green = 10, blue = 20."""

    observation_space = spaces.Box(0, 255, (40, 50, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        return self.image(super().reset(seed=seed)[0]), {}

    def step(self, action):
        obs, *rest = super().step(action)
        return self.image(obs), *rest

    def image(self, obs):
        return np.broadcast_to(np.array([obs[0], 10, 20], np.uint8), (40, 50, 3))


gymnasium.register("Odd-v0", Odd, max_episode_steps=20)
gymnasium.register("Wide-v0", Wide, max_episode_steps=20)
gymnasium.register("Sick-v0", Sick, max_episode_steps=20)
gymnasium.register("Keyed-v0", Keyed, max_episode_steps=20)
gymnasium.register("Slow-v0", Slow, max_episode_steps=20)
gymnasium.register("Loud-v0", Loud, max_episode_steps=20)
'''

CAMPAIGN = """
name = "foreign"
seed = 1
envs = ["gymnasium:odd:Odd-v0?modules=.&check=false{options}"]
policies = ["random"]
detectors = ["clock", "knn"]
anomalies = [{{ id = "obs-offset", magnitude = 3.0 }}, {{ id = "obs-noise", magnitude = 3.0 }}]
replicates = 20
false_alarms = 0.2
video = false
episodes = {{ train = 6, validation = 5, test = 5 }}
"""


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    return subprocess.run(line, capture_output=True, text=True, env=environment)


def fails(*arguments):
    found = command(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    return found.stderr


@pytest.fixture
def odd(elsewhere):
    """The module, in the current folder, where it is found if the id asks for that."""
    Path("odd.py").write_text(ODD)


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_episodes_are_those_of_gymnasium(name):
    """The recorded seed and commands give the same episode in Python."""
    recording = offnominal.collect(f"gymnasium:{name}", "random", episodes=3, seed=4, jobs=2)
    for episode in recording:
        env = gymnasium.make(name)
        obs, _ = env.reset(seed=int(episode.initial[0]))
        is_choice = isinstance(env.action_space, gymnasium.spaces.Discrete)
        for t, action in enumerate(episode.actions):
            assert (obs == episode.observations[t]).all()
            obs, reward, terminated, truncated, _ = env.step(int(action[0]) if is_choice else action)
            assert reward == episode.rewards[t]
        assert terminated == (episode.end == "failed") and truncated == (episode.end == "timed_out")


def test_the_commands_play_them():
    found = command("evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 20, "--json")
    assert found.returncode == 0, found.stderr
    assert 10 < json.loads(found.stdout)["return"]["value"] < 40
    anomaly = ("--anomaly", "obs-noise", "--magnitude", 0.1)
    found = command("collect", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 3, *anomaly)
    assert found.returncode == 0, found.stderr
    assert Path("runs/collect/gymnasium_CartPole-v1-random-obs-noise-0.1-seed0.arrow").is_file()
    assert "act-scaling" in command("list", "anomalies", "--env", "gymnasium:Pendulum-v1").stdout


@pytest.mark.parametrize(("model", "name"), [("tqc", "Pendulum-v1"), ("dqn", "CartPole-v1")])
def test_an_imported_agent_acts_in_them(model, name):
    environment, out = f"gymnasium:{name}", Path("mine")
    files = (SB3 / f"{model}.zip", "--normalize", SB3 / f"{model}.pkl")
    found = command("import", "sb3", *files, "--env", environment, "--out", out)
    assert found.returncode == 0, found.stderr
    policy = next(out.glob("*.safetensors"))
    recording = offnominal.collect(environment, str(policy), episodes=1)
    own = offnominal.Policy.from_sb3(files[0], files[2], env=environment)
    acted = np.array([own(obs) for obs in recording[0].observations[:-1]]).reshape(-1, 1)
    assert (acted == recording[0].actions).all()


def test_many_threads_give_the_same_bits(odd):
    def recorded(jobs):
        return offnominal.collect("gymnasium:odd:Odd-v0?modules=.", "random", episodes=12, seed=2, jobs=jobs)

    for one, other in zip(recorded(1), recorded(4)):
        assert (one.observations == other.observations).all() and (one.actions == other.actions).all()
        assert one.success == (one.observations[-1][1] > 0) and one.end == ("succeeded" if one.success else "failed")


def test_images_come_through_shared_memory(odd):
    episode = offnominal.collect("gymnasium:odd:Wide-v0?modules=.", "random", episodes=1)[0]
    planes = episode.observations.reshape(-1, 3, 40, 50)
    assert (planes[:, 1] == 10).all() and (planes[:, 2] == 20).all()
    assert (planes[:, 0, 3, 4] == np.arange(len(planes))).all()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("odd=raises", "ArithmeticError: of my own ("),
        ("odd=asserts", "AssertionError ("),
        ("odd=dies", "its process ended (exit status: 7); it said: something terrible"),
        ("odd=hangs&timeout=2", "expected an answer within 2 s, found none"),
    ],
)
def test_trouble_ends_an_evaluation(odd, options, expected):
    environment = f"gymnasium:odd:Odd-v0?modules=.&check=false&{options}"
    said = fails("evaluate", "--env", environment, "--policy", "random", "--episodes", 4)
    assert f"environment {environment}: {expected}" in said


def test_an_environment_may_end_its_own_episodes(odd):
    """They count as timed out, and the horizon that they suggest is said, once."""
    environment = "gymnasium:odd:Odd-v0?modules=.&check=false&odd=cuts"
    episode = offnominal.collect(environment, "random", episodes=1)[0]
    assert (episode.end, len(episode)) == ("timed_out", 3)
    found = command("evaluate", "--env", environment, "--policy", "random", "--episodes", 4)
    assert found.returncode == 0 and found.stderr.count("ends its episodes itself, the first one after 3 steps") == 1
    assert f"`{environment}&horizon=3` says so" in found.stderr
    found = command("evaluate", "--env", f"{environment}&horizon=3", "--policy", "random", "--episodes", 4)
    assert found.returncode == 0 and "ends its episodes itself" not in found.stderr


def test_what_is_raised_has_a_place(odd):
    said = fails("evaluate", "--env", "gymnasium:odd:Odd-v0?modules=.&check=false&odd=asserts", "--policy", "random")
    line = next(i for i, text in enumerate(ODD.splitlines(), 1) if "assert self.t < 0" in text)
    assert f"{Path('odd.py').resolve()}:{line} in asserts)" in said


def test_trouble_is_that_of_one_cell(odd):
    """The 21st episode takes its process along; what does not need it is kept, and the same command does the rest."""
    Path("campaign.toml").write_text(CAMPAIGN.format(options="&odd=dies&every=21"))
    said = fails("bench", "campaign.toml", "--jobs", 1)
    assert "its process ended (exit status: 7)" in said
    kept = len(list(Path("runs/bench/cells").iterdir()))
    assert kept == 5, "the control episodes failed, and the judgements that need them"
    found = command("bench", "campaign.toml", "--jobs", 1)
    assert found.returncode == 0 and "cells are finished already" in found.stderr
    Path("plain.toml").write_text(CAMPAIGN.format(options="&odd=dies&every=1000000"))
    assert command("bench", "plain.toml", "--out", "plain").returncode == 0
    interrupted = Path("runs/bench/results.csv").read_text()
    assert interrupted.replace("every=21", "every=1000000") == Path("plain/results.csv").read_text()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("sick=reset", "the first observation is not finite: channel flow is NaN"),
        ("sick=reset&value=inf", "the first observation is not finite: channel flow is inf"),
        ("sick=obs", "observation of step 2: channel flow is NaN"),
        ("sick=obs&value=-inf", "observation of step 2: channel flow is -inf"),
        ("sick=reward", "reward of step 2 is NaN"),
        ("sick=sum", "the sum of the rewards up to step 1 is inf"),
    ],
)
def test_no_gate_lets_through_what_is_not_finite(odd, options, expected):
    """Each of these passed once: with a success rate of 1, no failure, or an infinite return."""
    play = ("--env", f"gymnasium:odd:Sick-v0?modules=.&check=false&{options}", "--policy", "random")
    assert expected in fails("evaluate", *play, "--episodes", 4, "--min-success", 0.1)
    assert expected in fails("evaluate", *play, "--episodes", 4, "--min-return", -1e9)
    for risk in ("estimate", "search"):
        kind = () if risk == "estimate" else ("--strategy", "random")
        size = ("--episodes", 50, "--max-risk", 0.9) if risk == "estimate" else ("--searches", 1, "--budget", 9)
        found = command("risk", risk, *play, *size, *kind, "--failure", "terminated", "--out", f"out-{risk}")
        assert found.returncode == 2 and expected in found.stderr, found.stdout + found.stderr
    found = command("collect", *play, "--episodes", 2)
    assert expected in found.stdout + found.stderr
    assert found.returncode == (2 if "reset" in options else 0)
    assert expected in fails("fit", *play, "--detector", "knn", "--train", 5, "--calibration", 20, "--out", "m.monitor")
    assert expected in fails("calibrate", *play, "--anomaly", "obs-noise", "--episodes", 24)


def test_a_few_diverged_episodes_are_counted_where_they_are_allowed(odd):
    """Every second episode of a process is odd."""
    play = ("--env", "gymnasium:odd:Sick-v0?modules=.&check=false&sick=obs", "--policy", "random")
    told = ("--failure", "terminated", "--out", "risk")
    found = command("risk", "estimate", *play, "--episodes", 50, "--allow-diverged", 50, *told)
    assert "50 failures in 50 experiments" in found.stdout, found.stdout + found.stderr
    assert "50 experiments diverged and have no outcome; they count as failures" in found.stdout
    assert json.loads(Path("risk/risk.json").read_text())["diverged"] == 50


def test_python_hears_of_a_number_that_is_not_finite(odd, monkeypatch):
    monkeypatch.syspath_prepend(".")
    import odd as module

    env = offnominal.Anomalous(module.Sick("obs"), "obs-noise", magnitude=0.1, onset=10)
    env.reset(seed=1)
    for _ in range(2):
        assert "diverged" not in env.step(np.zeros(1, np.float32))[4]
    *_, terminated, truncated, info = env.step(np.zeros(1, np.float32))
    assert (terminated, truncated, info["end"]) == (False, True, "diverged")
    with pytest.raises(ValueError, match="expected reset"):
        env.step(np.zeros(1, np.float32))
    assert env.reset(seed=1)[1].get("diverged") is None


def test_code_in_the_current_folder_is_not_executed():
    trace = "import pathlib; pathlib.Path('executed').touch()"
    for module in ("mmap", "socket", "gymnasium", "numpy", "json", "traceback"):
        Path(f"{module}.py").write_text(trace)
    line = [sys.executable, "-P", "-m", "offnominal", "evaluate", "--env", "gymnasium:CartPole-v1"]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    environment.pop("PYTHONSAFEPATH", None)
    line += ["--policy", "random", "--episodes", "2"]
    found = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert found.returncode == 0 and not Path("executed").exists(), found.stderr


def test_a_module_of_a_folder_is_found_where_that_is_asked_for(odd):
    said = fails("evaluate", "--env", "gymnasium:odd:Odd-v0", "--policy", "random")
    assert "No module named 'odd': expected an installed module, or its folder as ?modules=FOLDER" in said
    said = fails("evaluate", "--env", "gymnasium:odd:Odd-v0?modules=nowhere", "--policy", "random")
    assert "modules: expected a folder, found 'nowhere'" in said


def test_channels_have_the_names_that_the_environment_gives_them(odd):
    def channels(environment):
        recording = offnominal.collect(f"gymnasium:odd:{environment}", "random", episodes=1)
        return [c["name"] for c in recording.recipe["observation"]]

    assert channels("Sick-v0?modules=.&check=false&sick=none") == ["level", "flow"]
    assert channels("Keyed-v0?modules=.") == ["flows[0]", "flows[1]", "tank/level"]
    assert channels("Odd-v0?modules=.&observation_names=t,sum") == ["t", "sum"]
    said = fails("evaluate", "--env", "gymnasium:odd:Odd-v0?modules=.&observation_names=t", "--policy", "random")
    assert "observation_names: expected 2 names, found 1: t" in said


def test_results_say_what_hosted_them():
    found = command("evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 2, "--json")
    versions = json.loads(found.stdout)["versions"]
    assert f"Gymnasium {gymnasium.__version__}" in versions["Python"]
    assert f"numpy {np.__version__}" in versions["Python"]


def test_the_time_out_counts_for_construction_and_only_once(odd):
    began = time.monotonic()
    said = fails("evaluate", "--env", "gymnasium:odd:Slow-v0?modules=.&make=40&timeout=2", "--policy", "random")
    assert "expected an answer within 2 s, found none" in said and time.monotonic() - began < 30
    began = time.monotonic()
    slow = ("--env", "gymnasium:odd:Slow-v0?modules=.&step=40&timeout=2", "--policy", "random", "--episodes", 100)
    assert "expected an answer within 2 s, found none" in fails("evaluate", *slow)
    assert "expected an answer within 2 s, found none" in fails("collect", *slow)
    assert time.monotonic() - began < 60


def test_what_an_environment_says_is_not_kept(odd):
    """Two million characters a step."""
    before = {path.name for path in Path("/dev/shm").glob("offnominal-host-*")}
    play = ("--env", "gymnasium:odd:Loud-v0?modules=.", "--policy", "random", "--episodes", 5)
    line = [sys.executable, "-m", "offnominal", "evaluate", *map(str, play)]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, env={**os.environ, "OFFNOMINAL_PYTHON": sys.executable})
    largest = 0
    while process.poll() is None:
        folders = [f for f in Path("/dev/shm").glob("offnominal-host-*") if f.name not in before]
        with contextlib.suppress(FileNotFoundError):
            largest = max([largest, *(sum(file.stat().st_size for file in f.iterdir()) for f in folders)])
        time.sleep(0.02)
    assert process.returncode == 0 and largest < 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="folders in memory are Linux's")
def test_what_a_killed_command_leaves_is_removed_by_the_next(odd):
    play = ("--env", "gymnasium:odd:Slow-v0?modules=.&step=0.1", "--policy", "random")
    line = [sys.executable, "-m", "offnominal", "evaluate", *play]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    process = subprocess.Popen(line, env=environment, stderr=subprocess.DEVNULL)

    def hosts() -> list[Path]:
        found = (pid for each in Path(f"/proc/{process.pid}/task").glob("*/children") for pid in each.read_text().split())
        return [Path("/proc", pid) for pid in found]

    def folders() -> set[Path]:
        """Those that this command shares with its processes, of which they are an argument; other tests have their own."""
        with contextlib.suppress(OSError):
            words = {word for host in hosts() for word in (host / "cmdline").read_text().split("\0")}
            return {Path(word) for word in words if "offnominal-host-" in word and Path(word, "lock").exists()}
        return set()

    while not (left := folders()):
        assert process.poll() is None
        time.sleep(0.05)
    # Without a process of Python that could tidy up after it.
    for host in hosts():
        os.kill(int(host.name), signal.SIGKILL)
    process.kill()
    process.wait()
    assert any(folder.exists() for folder in left)
    assert command("evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 2).returncode == 0
    assert not any(folder.exists() for folder in left)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal elsewhere")
def test_ctrl_c_ends_an_evaluation_at_once(odd):
    play = ("--env", "gymnasium:odd:Slow-v0?modules=.&step=30&timeout=60", "--policy", "random")
    line = [sys.executable, "-m", "offnominal", "evaluate", *play]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=20)
    # Generous: it is a few hundred milliseconds on a machine with nothing else to do.
    assert process.returncode == 130 and "interrupted" in said and time.monotonic() - began < 5, said


def test_names_and_interpreters_are_explained(odd, monkeypatch):
    def said(environment):
        return fails("evaluate", "--env", environment, "--policy", "random")

    assert "environment gymnasium:CartPol-v1:" in said("gymnasium:CartPol-v1")
    assert "expected an id of Gymnasium, such as CartPole-v1, found none" in said("gymnasium:")
    assert 'timeout: expected seconds from 0.001 to 86400, found "x"' in said("gymnasium:CartPole-v1?timeout=x")
    assert "expected no robot, found one" in fails(
        "evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--robot", "10.0.0.1"
    )


def test_parameters_of_an_environment_are_anomalies():
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    listed = command("list", "anomalies", "--env", "gymnasium:HalfCheetah-v5").stdout
    assert "dyn-mass" in listed and "dyn-friction" in listed


def test_pong_is_played():
    pytest.importorskip("ale_py", reason="ale-py is not installed")
    recording = offnominal.collect("gymnasium:ALE/Pong-v5?horizon=30", "random", episodes=2)
    assert recording[0].observations.shape == (31, 3 * 210 * 160) and recording[0].observations.max() > 200
