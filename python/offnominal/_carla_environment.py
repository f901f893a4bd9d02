"""The highway of CARLA as the lane-keeping task needs it: the client's calls, and nothing of the task."""

from __future__ import annotations

import math
import queue
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The version of client and server.
VERSION = "0.9.16"

_STEP_SECS = 0.05
_FARTHEST = 100
_LANE_HALF_WIDTH = 1.75
_SIDE = 256


@dataclass(frozen=True)
class Seen:
    """What the car measures: m/s, m/s², rad and m; left is positive."""

    speed: float
    acceleration: float
    heading: float
    offset: float
    gap: float
    closing: float


def connect(server: tuple[str, int, int, float], town: str, has_camera: bool) -> Road:
    """The highway on a server, whose clock is ours from now on.

    :raises ConnectionError: if there is no client, no server within the time-out, or one of another version.
    """
    host, port, traffic_port, timeout = server
    try:
        import carla
    except ImportError:
        raise ConnectionError("expected the client of CARLA, which `pip install offnominal[carla]` brings") from None
    client = carla.Client(host, port)
    client.set_timeout(timeout)
    try:
        found = client.get_server_version()
    except RuntimeError:
        raise ConnectionError(f"CARLA at {host}:{port}: expected a server within {timeout:g} s, found none") from None
    if found != VERSION or client.get_client_version() != VERSION:
        versions = f"{found} with the client {client.get_client_version()}"
        raise ConnectionError(f"CARLA at {host}:{port}: expected version {VERSION}, found {versions}")
    return Road(carla, client, traffic_port, town, has_camera)


class Road:
    """A map with a car of ours and the traffic around it."""

    def __init__(self, carla: Any, client: Any, traffic_port: int, town: str, has_camera: bool) -> None:
        self._carla, self._client = carla, client
        self._environment = client.get_environment()
        if self._environment.get_map().name.rpartition("/")[2] != town:
            self._environment = client.load_environment(town)
        self._own_settings = self._environment.get_settings()
        self._map = self._environment.get_map()
        self._traffic_port = traffic_port
        self._manager = client.get_trafficmanager(traffic_port)
        self._has_camera = has_camera
        self._actors: list[Any] = []
        self._sensors: list[Any] = []
        self._others: list[Any] = []
        self._car: Any = None
        self._frames: queue.Queue[Any] = queue.Queue()
        #: Whether the car has touched anything in this episode.
        self.collided = False
        #: The last image, if there is a camera.
        self.image: NDArray[np.uint8] | None = None
        self._take_the_clock()

    def _take_the_clock(self) -> None:
        settings = self._environment.get_settings()
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = _STEP_SECS
        settings.no_rendering_mode = not self._has_camera
        self._environment.apply_settings(settings)
        self._manager.set_synchronous_mode(True)

    def populate(self, rng: np.random.Generator, traffic: int) -> None:
        """Removes what is there, and places the car and the traffic."""
        self._clear()
        self._manager.set_random_device_seed(int(rng.integers(2**31)))
        places = [place for place in self._map.get_spawn_points() if self._is_highway(place.location)]
        if not places:
            raise ValueError(f"map {self._map.name}: expected a highway of three lanes, found none")
        order = [places[i] for i in rng.permutation(len(places))]
        library = self._environment.get_blueprint_library()
        self._car = self._environment.spawn_actor(library.find("vehicle.ford.crown"), order[0])
        self._actors.append(self._car)
        self._nominal_friction = [wheel.tire_friction for wheel in self._car.get_physics_control().wheels]
        self._attach(library)
        self._spawn_traffic(library.filter("vehicle.*"), order[1:], rng, traffic)
        self._tick()

    def _is_highway(self, location: Any) -> bool:
        here = self._map.get_waypoint(location)
        return 1 + self._beside(here, "get_left_lane") + self._beside(here, "get_right_lane") >= 3

    def _beside(self, waypoint: Any, side: str) -> int:
        """How many lanes of the same direction there are on one side."""
        found, direction = 0, math.copysign(1, waypoint.lane_id)
        beside = getattr(waypoint, side)()
        while beside is not None and beside.lane_type == self._carla.LaneType.Driving:
            if math.copysign(1, beside.lane_id) != direction:
                break
            found, beside = found + 1, getattr(beside, side)()
        return found

    def _attach(self, library: Any) -> None:
        carla, self.collided = self._carla, False
        self._sense(library.find("sensor.other.collision"), carla.Transform(), self._touched)
        if not self._has_camera:
            return
        blueprint = library.find("sensor.camera.rgb")
        for name in ("image_size_x", "image_size_y"):
            blueprint.set_attribute(name, str(_SIDE))
        bumper = carla.Transform(carla.Location(x=0.5, z=1.5))
        self._frames = queue.Queue()
        self._sense(blueprint, bumper, self._frames.put)

    def _sense(self, blueprint: Any, place: Any, heard: Callable[[Any], None]) -> None:
        sensor = self._environment.spawn_actor(blueprint, place, attach_to=self._car)
        sensor.listen(heard)
        self._sensors.append(sensor)
        self._actors.append(sensor)

    def _touched(self, _: Any) -> None:
        self.collided = True

    def _spawn_traffic(self, blueprints: Any, places: list[Any], rng: np.random.Generator, n: int) -> None:
        carla, kinds = self._carla, sorted(blueprints, key=lambda blueprint: blueprint.id)
        batch = []
        for place in places[:n]:
            blueprint = kinds[int(rng.integers(len(kinds)))]
            drive = carla.command.SetAutopilot(carla.command.FutureActor, True, self._traffic_port)
            batch.append(carla.command.SpawnActor(blueprint, place).then(drive))
        answers = self._client.apply_batch_sync(batch, True)
        self._others = self._environment.get_actors([a.actor_id for a in answers if not a.error])
        self._actors.extend(self._others)

    def drive(self, throttle: float, steering: float) -> None:
        """Applies accumulated commands, and lets a step pass."""
        control = self._carla.VehicleControl(
            throttle=max(0.0, float(throttle)), brake=max(0.0, -float(throttle)), steer=-float(steering)
        )
        self._car.apply_control(control)
        self._tick()

    def _tick(self) -> None:
        frame = self._environment.tick()
        if not self._has_camera:
            return
        image = self._frames.get(timeout=10.0)
        while image.frame < frame:
            image = self._frames.get(timeout=10.0)
        bgra = np.frombuffer(image.raw_data, np.uint8).reshape(image.height, image.width, 4)
        self.image = bgra[:, :, 2::-1].copy()

    def look(self) -> Seen:
        """What the car measures now."""
        pose, velocity = self._car.get_transform(), self._car.get_velocity()
        lane = self._map.get_waypoint(pose.location)
        # CARLA's yaw grows to the right.
        turn = math.radians(lane.transform.rotation.yaw - pose.rotation.yaw)
        gap, ahead = self._ahead(lane)
        speed = velocity.length()
        return Seen(
            speed=speed,
            acceleration=self._car.get_acceleration().length(),
            heading=math.remainder(turn, 2 * math.pi),
            offset=-(pose.location - lane.transform.location).dot(lane.transform.get_right_vector()),
            gap=gap,
            closing=0.0 if ahead is None else ahead.get_velocity().length() - speed,
        )

    def _ahead(self, lane: Any) -> tuple[float, Any]:
        """The next vehicle along the lane, metre by metre, and the way from bumper to bumper."""
        here = self._car.get_location()
        near = [(other.get_location(), other) for other in self._others]
        near = [(at, other) for at, other in near if at.distance(here) < _FARTHEST + 10]
        for metres in range(1, _FARTHEST + 1):
            following = lane.next(1.0)
            if not following or not near:
                break
            lane = following[0]
            for at, other in near:
                if at.distance(lane.transform.location) < _LANE_HALF_WIDTH:
                    lengths = self._car.bounding_box.extent.x + other.bounding_box.extent.x
                    return min(max(0.0, metres - lengths), float(_FARTHEST)), other
        return float(_FARTHEST), None

    def set_friction(self, factor: float) -> None:
        """Sets the friction of the car's tyres, as a multiple of the nominal."""
        control = self._car.get_physics_control()
        wheels = control.wheels
        for wheel, nominal in zip(wheels, self._nominal_friction, strict=True):
            wheel.tire_friction = factor * nominal
        control.wheels = wheels
        self._car.apply_physics_control(control)

    def _clear(self) -> None:
        for sensor in self._sensors:
            sensor.stop()
        destroy = [self._carla.command.DestroyActor(actor) for actor in reversed(self._actors)]
        self._client.apply_batch_sync(destroy, True)
        self._actors, self._others, self._sensors = [], [], []

    def leave(self) -> None:
        """Removes what was placed, and gives the clock back."""
        self._clear()
        self._manager.set_synchronous_mode(False)
        self._environment.apply_settings(self._own_settings)
