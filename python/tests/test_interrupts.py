"""Ctrl-C ends every call within a moment, whatever the engine is doing."""

import os
import signal
import subprocess
import sys
import time

import pytest

#: Calls that would take minutes, each with the seconds after which it is interrupted.
CALLS = {
    "fit": 'offnominal.detectors.PeDm(training={"epochs": 9999}).fit(episodes)',
    "fit of a forest": "offnominal.detectors.IsolationForest(trees=16_384, subsample=16_384).fit(episodes)",
    "fit of a recurrent network": "offnominal.detectors.Riqn().fit(episodes)",
    "alarms": 'offnominal.alarms.fit(episodes[:5], episodes[5:], offnominal.detectors.MlpDm(training={"epochs": 9999}), rule="max")',
    "collect": 'offnominal.collect("car-lanekeep", "tqc", episodes=100_000)',
    "calibrate": 'offnominal.calibrate("car-lanekeep", policy="tqc", out="out")',
    "train": 'offnominal.train("sap-goal1", out="out", steps=500_000)',
    "campaign": 'offnominal.commands.bench(campaign="mine.toml", out="out")',
    "bench": 'offnominal.bench(env="sap-goal1", detectors=[slow], anomalies=["obs-drift"], strengths=["strong"])',
}

PROGRAM = """
import offnominal, sys
episodes = offnominal.collect("car-lanekeep", "tqc", episodes=10, seed=1)
slow = offnominal.detectors.PeDm(training={"epochs": 9999})
print("begins", flush=True)
%s
"""

CAMPAIGN = """
name = "slow"
seed = 1
envs = ["sap-goal1"]
detectors = [{ id = "pe-dm", training = { epochs = 9999 } }]
anomalies = ["obs-drift"]
strengths = ["strong"]

[episodes]
train = 50
validation = 20
test = 20
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Unix: signals are sent as there")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_call(call, tmp_path):
    (tmp_path / "mine.toml").write_text(CAMPAIGN)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM % CALLS[call]], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Tests that were started in the background ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout.readline() == "begins\n", process.communicate()[1]
    time.sleep(1.5)
    assert process.poll() is None, process.communicate()[1]
    sent = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    # It takes a tenth of a second; machines that do other things too have more.
    assert "KeyboardInterrupt" in errors and time.monotonic() - sent < 5, errors
