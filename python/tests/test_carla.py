"""Lane keeping in CARLA, against a client that has no server, and without any."""

import sys
import time

import fake_carla
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import offnominal
from offnominal.carla import LaneKeep

STRAIGHT, FULL = np.zeros(2, np.float32), np.array([1, 0], np.float32)
#: Positions in an observation.
SPEED, TARGET, ACCELERATION, HEADING, OFFSET, GAP, CLOSING, THROTTLE, STEERING = range(9)


@pytest.fixture
def server(monkeypatch):
    """A fresh one for each test."""
    monkeypatch.setitem(sys.modules, "carla", fake_carla)
    monkeypatch.setattr(fake_carla.Client, "environment", fake_carla.Environment())
    return fake_carla.Client.environment


def alone():
    env = LaneKeep(traffic=0)
    env.reset(seed=1)
    return env


def test_it_is_an_environment(server):
    env = gymnasium.make("offnominal/CarlaLaneKeep-v0", traffic=5, render_mode="rgb_array")
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.max_episode_steps == env.unwrapped.horizon == 500
    env.reset(seed=3)
    image = env.render()
    assert image.shape == (256, 256, 3) and (image[0, 0] == [3, 2, 1]).all()
    env.close()


def test_the_car_obeys_its_accumulated_commands(server):
    env = alone()
    for step in range(1, 16):
        obs, reward, terminated, truncated, _ = env.step(FULL)
        assert obs[THROTTLE] == pytest.approx(min(1.0, 0.1 * step)) and not terminated and not truncated
    assert obs[ACCELERATION] == pytest.approx(4.0) and obs[SPEED] > 0.05 and obs[TARGET] == 0.5
    assert reward == pytest.approx(-abs(obs[SPEED] - 0.5) - 0.01, abs=1e-6)
    assert (obs[GAP], obs[CLOSING]) == (100.0, 0.0)


def test_left_is_positive(server):
    env = alone()
    for _ in range(30):
        env.step(FULL)
    for _ in range(6):
        obs, *_ = env.step(np.array([0, 0.5], np.float32))
    assert obs[STEERING] == pytest.approx(0.3) and obs[HEADING] > 0.001 and obs[OFFSET] > 0.0
    assert server.actors[0].control.steer == pytest.approx(-0.3)


def test_leaving_the_lane_ends_the_episode(server):
    env, steps = alone(), 0
    terminated = False
    while not terminated:
        obs, reward, terminated, *_ = env.step(np.array([1, -1], np.float32))
        steps += 1
    assert obs[OFFSET] < -1.5 and reward == -100.0 and steps < 200


def test_the_vehicle_ahead_is_seen_and_hitting_it_ends_the_episode(server):
    env = LaneKeep(traffic=19)
    for seed in range(20):
        obs, _ = env.reset(seed=seed)
        if obs[GAP] < 100.0:
            break
    assert obs[GAP] == pytest.approx(40.0 - 5.0, abs=2.0)
    terminated = False
    while not terminated:
        obs, reward, terminated, *_ = env.step(FULL)
    assert obs[CLOSING] < -5.0 and obs[GAP] < 1.0 and reward == -100.0


def test_a_seed_places_everything_and_closing_leaves_nothing(server):
    env = LaneKeep(traffic=8)
    places = []
    for _ in range(2):
        env.reset(seed=5)
        places.append([(car.place.x, car.place.y) for car in server.actors])
    assert places[0] == places[1] and len(places[0]) == 1 + 1 + 8
    assert server.settings.synchronous_mode and server.settings.fixed_delta_seconds == 0.05
    env.close()
    assert not server.actors and not server.settings.synchronous_mode
    env.close()


def braked(server, **anomaly):
    """Speeds of a car that accelerates for 20 steps and then brakes."""
    env = gymnasium.make("offnominal/CarlaLaneKeep-v0", traffic=0)
    if anomaly:
        env = offnominal.Anomalous(env, onset=20, **anomaly)
    env.reset(seed=1)
    steps = [env.step(FULL if t < 20 else -FULL) for t in range(45)]
    env.close()
    return np.array([obs[SPEED] for obs, *_ in steps])


def test_brakes_steering_and_tyres_fail_at_the_onset(server):
    nominal = braked(server)
    for name, value in (("brake-gain", 0.2), ("tyre-friction", 0.1)):
        failed = braked(server, anomaly=f"dyn-{name}", magnitude=value)
        assert (failed[:20] == nominal[:20]).all() and failed[-1] > nominal[-1] + 0.01
    env = offnominal.Anomalous(LaneKeep(traffic=0), "dyn-steering-gain", 0.0, onset=0)
    env.reset(seed=1)
    obs, *_ = env.step(np.array([0, 1], np.float32))
    assert obs[STEERING] == 0.0
    assert {"obs-noise", "act-scaling", "dyn-tyre-friction"} <= set(env.anomalies())


def test_without_a_server_it_says_so(server, monkeypatch):
    monkeypatch.setattr(fake_carla.Client, "is_there", False)
    with pytest.raises(ConnectionError, match=r"CARLA at here:2000: expected a server within 2 s, found none"):
        LaneKeep(host="here", timeout=2.0).reset()
    monkeypatch.setattr(fake_carla.Client, "is_there", True)
    monkeypatch.setattr(fake_carla.Client, "version", "0.9.15")
    with pytest.raises(ConnectionError, match=r"expected version 0\.9\.16, found 0\.9\.15 with the client 0\.9\.16"):
        LaneKeep().reset()


def test_the_real_client_gives_up_in_time():
    pytest.importorskip("carla", reason="the client of CARLA is not installed")
    began = time.monotonic()
    with pytest.raises(ConnectionError, match="expected a server within 1 s, found none"):
        LaneKeep(port=2998, timeout=1.0).reset()
    assert time.monotonic() - began < 10.0


def test_the_fake_has_only_names_of_the_real_client():
    real = pytest.importorskip("carla", reason="the client of CARLA is not installed")
    for fake in (fake_carla.Client, fake_carla.Environment, fake_carla.Map, fake_carla.Waypoint, fake_carla.Location):
        own = {name for name in vars(fake) if not name.startswith("_")} - {"environment", "version", "is_there"}
        missing = [name for name in own if not hasattr(getattr(real, fake.__name__), name)]
        assert not missing, f"{fake.__name__}: {missing}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"timeout": 0}, "timeout: expected seconds"),
        ({"traffic": -1}, "traffic: expected 0 to 1000 vehicles, found -1"),
        ({"render_mode": "human"}, "render_mode: expected None or 'rgb_array', found 'human'"),
    ],
)
def test_bad_arguments_are_explained(given, expected):
    with pytest.raises(ValueError, match=expected):
        LaneKeep(**given)


def test_bad_steps_are_explained(server):
    with pytest.raises(ValueError, match=r"expected reset\(\) before step\(\)"):
        LaneKeep().step(STRAIGHT)
    env = alone()
    with pytest.raises(ValueError, match="expected 2 finite numbers"):
        env.step(np.array([np.nan, 0]))
    with pytest.raises(ValueError, match="parameter brake-gain: expected 0.0 to 2.0, found 3"):
        env.set_parameter("brake-gain", 3)
