"""Images of 1024 × 512 that `pixels score` scores in a second, by method, with logits and features given as files.

    python crates/offnominal-pixels/benches/scoring.py target/release/offnominal [JOBS]

The scenes are ours, the logits and features those of a shipped network: twelve classes, and 64 channels for every four pixels.
A method is fitted on four images. It scores eight images and 24 others; of three calls each the medians count, and what the
sixteen images more take is the time of an image: labels, logits and features are read, the map and its overlay written.
Needs the repository, for the network.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM, JOBS = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2] if len(sys.argv) > 2 else "2"
MODEL = pathlib.Path(__file__).resolve().parents[3] / "agents/pixels/pspnet-none-256.safetensors"
METHODS = ["max-softmax", "odin", "entropy", "max-logit", "energy", "standardised-max-logit", "mahalanobis", "vim", "feature-knn"]
IMAGES = {"few": 8, "many": 24}


def call(*words: object, cwd: str) -> float:
    """Runs a command; the seconds that it took."""
    began = time.perf_counter()
    subprocess.run([PROGRAM, "pixels", *map(str, words), "--quiet"], cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def score(method: str, data: str, cwd: str) -> float:
    """The seconds of scoring a set."""
    nominal = ["--nominal", "nominal", "--nominal-logits", "nominal-said/logits", "--nominal-features", "nominal-said/features"]
    given = ["--data", data, "--logits", f"{data}-said/logits", "--features", f"{data}-said/features"]
    return call("score", *given, *nominal, "--method", method, "--jobs", JOBS, "--out", f"scores/{method}", cwd=cwd)


with tempfile.TemporaryDirectory() as folder:
    for name, split, n in [("nominal", "train", 4), *((name, "test", n) for name, n in IMAGES.items())]:
        call("scenes", "--split", split, "-n", n, "--width", 1024, "--height", 512, "--out", name, cwd=folder)
        call("predict", "--data", name, "--model", MODEL, "--out", f"{name}-said", cwd=folder)
    for method in METHODS:
        few, many = (statistics.median(score(method, data, folder) for _ in range(3)) for data in IMAGES)
        print(f"{method}: {(IMAGES['many'] - IMAGES['few']) / (many - few):.1f} images a second", flush=True)
