"""The long commands at settings that take about a second, and what they read."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "agents"

CAMPAIGN = """
name = "campaign"
seed = 3
envs = ["sap-goal1"]
detectors = ["clock", "knn"]
anomalies = ["obs-offset", "act-noise", "obs-noise", "act-offset"]
strengths = ["strong"]
false_alarms = 0.2
replicates = 10
video = false
episodes = { train = 6, validation = 6, test = 6 }
"""


@dataclass(frozen=True)
class Command:
    """A command that can be killed and run again; it writes below `out` in its working folder."""

    name: str
    args: list[str]
    # Several processes may run it in one folder at once.
    is_shareable: bool = False
    # What is said instead where a run that was cut off left this file.
    resume: tuple[str, list[str]] | None = None
    # Words of its error where this build cannot run it.
    missing: str = "this build has no networks"

    def line(self, binary: Path, folder: Path) -> list[str]:
        """The command line for the state in which a folder is."""
        goes_on = self.resume is not None and (folder / self.resume[0]).exists()
        return [str(binary), *(self.resume[1] if self.resume and goes_on else self.args), "--quiet"]


@dataclass
class Inputs:
    """What commands read, made once."""

    binary: Path
    folder: Path
    commands: list[Command] = field(default_factory=list)

    def run(self, *args: str) -> None:
        """Runs a command that makes inputs."""
        line = [str(self.binary), *args, "--quiet"]
        done = subprocess.run(line, cwd=self.folder, env=environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"the inputs cannot be made: {' '.join(line)}\n{done.stderr}")

    def at(self, name: str) -> str:
        """The path of an input."""
        return str(self.folder / name)


def environment() -> dict[str, str]:
    """Work that goes on after a kill writes what it has whenever it can."""
    return {**os.environ, "OFFNOMINAL_CHECKPOINT_SECS": "0"}


def prepare(binary: Path, folder: Path) -> Inputs:
    """Makes the inputs, and the commands that read them."""
    folder.mkdir(parents=True)
    inputs = Inputs(binary, folder)
    (folder / "campaign.toml").write_text(CAMPAIGN)
    with zipfile.ZipFile(AGENTS / "shift" / "policies.zip") as shipped, zipfile.ZipFile(
        folder / "hopper.zip", "w"
    ) as one:
        one.writestr("hopper-td3-1.safetensors", shipped.read("hopper-td3-1.safetensors"))
    scenes = ["pixels", "scenes", "--width", "64", "--height", "48", "--seed", "1"]
    inputs.run(*scenes, "--split", "train", "-n", "12", "--out", "nominal")
    inputs.run(*scenes, "--split", "test", "-n", "6", "--out", "unknown-a")
    inputs.run(*scenes, "--split", "test", "-n", "6", "--contrast", "high", "--out", "unknown-b")
    inputs.run("pixels", "train", "--data", "nominal", "--rounds", "4", "--seed", "1", "--out", "network")
    history = str(AGENTS / "driving-tqc" / "history.safetensors")
    learn = ["risk", "learn", "--env", "driving", "--history", history, "--members", "1"]
    inputs.run(*learn, "--form", "mlp", "--steps", "20", "--out", "predictor")
    inputs.commands = commands(inputs, learn)
    return inputs


def commands(inputs: Inputs, learn: list[str]) -> list[Command]:
    """Every command that goes on where it was cut off."""
    weak, better = (str(AGENTS / "driving-tqc" / "policies" / f"000{n}.safetensors") for n in ("075000", "150000"))
    driving, out = ["--env", "driving"], ["--jobs", "2", "--seed", "1", "--out", "out"]
    thinned = ["--predictor", inputs.at("predictor/predictor.safetensors"), "--episodes", "300"]
    both = ["--policy", weak, "--policy", better]
    noises = ["--noise", "0", "--noise", "0.1", "--noise", "0.2"]
    search = ["--strategy", "random", "--strategy", "elites", "--searches", "12", "--budget", "10", "--all"]
    train = ["--steps", "1500", "--eval-every", "100", "--set", "hidden=[8,8]", "--set", "learning_starts=100"]
    train += ["--set", "eval_episodes=4", "--set", "batch=16"]
    small = ["--sigma", "0.1", "--bodies", "2", "--steps", "200", "--nominal-runs", "2", "--updates", "6", "--detector", "knn"]
    nominal = ["--model", inputs.at("network/model.safetensors"), "--nominal", inputs.at("nominal")]
    unknown = ["--data", inputs.at("unknown-a"), "--data", inputs.at("unknown-b")]
    file = ["--jobs", "2", "--seed", "1", "--file", "out/network.safetensors"]
    fit = ["--env", "sap-goal0", "--train", "2", "--validation", "1", "--images", "32"]
    network = ["--detector", '{ id = "ldm", learning = { steps = 4, batch = 2 } }']
    return [
        Command(
            "train",
            ["train", "--env", "sap-goal0", *train, "--history", "--checkpoints", "4", *out],
            resume=("out/checkpoint.safetensors", ["train", "--env", "sap-goal0", "--resume", *out]),
        ),
        Command(
            "collect",
            ["collect", "--env", "sap-goal1", "--policy", "tqc", "--episodes", "600"]
            + ["--anomaly", "obs-noise", "--strength", "medium", *out],
        ),
        Command(
            "calibrate",
            ["calibrate", "--env", "sap-goal0", "--anomaly", "obs-noise,act-noise,obs-offset,act-offset"]
            + ["--episodes", "24", "--budget", "600", *out],
        ),
        Command(
            "bench",
            ["bench", inputs.at("campaign.toml"), "--jobs", "2", "--out", "out"],
            is_shareable=True,
        ),
        Command(
            "audit",
            ["audit", "--env", "sap-goal1", "--policy", "tqc", "--depth", "glance", "--anomaly", "obs-offset", *out],
        ),
        Command("risk estimate", ["risk", "estimate", "--env", "sap-goal1", "--policy", "random", "--episodes", "6300", *out]),
        Command("risk estimate (thinned)", ["risk", "estimate", *driving, "--policy", weak, *thinned, *out]),
        Command(
            "risk learn (policies)",
            ["risk", "learn", *driving, *both, "--episodes", "30", *noises, "--history-only", *out],
        ),
        Command("risk learn", [*learn, "--form", "mlp", "--steps", "20", "--seed", "1", "--out", "out"]),
        Command("risk search", ["risk", "search", *driving, "--policy", "random", *search, *out]),
        Command("risk select", ["risk", "select", *driving, *both, "--budget", "600", "--round", "20", *out]),
        Command(
            "risk split",
            ["risk", "split", *driving, "--policy", "random", "--particles", "10", "--moves", "2"]
            + ["--swarms", "60", "--budget", "40", *out],
        ),
        Command("shift", ["shift", "--env", "hopper", "--policy", inputs.at("hopper.zip"), *small, *out]),
        Command(
            "images fit (patches)",
            ["images", "fit", "--env", "sap-goal0,sap-goal1", "--train", "3"]
            + ["--detector", '{ id = "patches", patches = 4000, epochs = 4 }', *file],
        ),
        Command("images fit", ["images", "fit", *fit, *network, *file]),
        Command("pixels train", ["pixels", "train", "--data", inputs.at("nominal"), "--rounds", "12", *out]),
        Command(
            "pixels evaluate",
            ["pixels", "evaluate", *unknown, *nominal, "--methods", "max-softmax,entropy,feature-knn"]
            + ["--replicates", "100", *out],
        ),
    ]


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


Maker = Callable[[Path], None]
