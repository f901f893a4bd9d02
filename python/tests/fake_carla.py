"""A client of CARLA without a server: four straight lanes eastwards, and cars that are points with a heading.

It has those names of the client 0.9.16 that the package uses, and its left-handed coordinates: yaw and y grow to the
right of someone who looks along x.
"""

import math
from types import SimpleNamespace

LANE_WIDTH, DT = 3.5, 0.05


class LaneType:
    Driving, Shoulder = "driving", "shoulder"


class Vector3D:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z

    def __sub__(self, other):
        return type(self)(self.x - other.x, self.y - other.y, self.z - other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def length(self):
        return math.sqrt(self.dot(self))


class Location(Vector3D):
    def distance(self, other):
        return (self - other).length()


class Transform:
    def __init__(self, location=None, yaw=0.0):
        self.location, self.rotation = location or Location(), SimpleNamespace(yaw=yaw)

    def get_right_vector(self):
        yaw = math.radians(self.rotation.yaw)
        return Vector3D(-math.sin(yaw), math.cos(yaw))


class Waypoint:
    """A place on the middle of lane 1 (left) to 4 (right); 0 and 5 are shoulders."""

    def __init__(self, lane, x):
        self.lane_id, self._x = lane, x
        self.lane_type = LaneType.Driving if 1 <= lane <= 4 else LaneType.Shoulder
        self.transform = Transform(Location(x, lane * LANE_WIDTH))

    def get_left_lane(self):
        return Waypoint(self.lane_id - 1, self._x) if self.lane_id > 0 else None

    def get_right_lane(self):
        return Waypoint(self.lane_id + 1, self._x) if self.lane_id < 5 else None

    def next(self, metres):
        return [Waypoint(self.lane_id, self._x + metres)]


class Map:
    name = "Carla/Maps/Town04"

    def get_spawn_points(self):
        return [Transform(Location(40.0 * i, lane * LANE_WIDTH)) for i in range(5) for lane in (1, 2, 3, 4)]

    def get_waypoint(self, location):
        return Waypoint(min(4, max(1, round(location.y / LANE_WIDTH))), location.x)


class VehicleControl:
    def __init__(self, throttle=0.0, brake=0.0, steer=0.0):
        self.throttle, self.brake, self.steer = throttle, brake, steer


class Actor:
    def __init__(self, environment, kind, transform):
        self._environment, self.kind, self.id = environment, kind, len(environment.actors)
        self.place, self.yaw, self.speed = transform.location, transform.rotation.yaw, 0.0
        self.control, self.acceleration = VehicleControl(), 0.0
        self.bounding_box = SimpleNamespace(extent=Vector3D(2.5, 1.0, 0.8))
        self.physics = SimpleNamespace(wheels=[SimpleNamespace(tire_friction=3.5) for _ in range(4)])
        self.heard, self.is_listening = None, False

    def listen(self, heard):
        self.heard, self.is_listening = heard, True

    def stop(self):
        self.is_listening = False

    def get_transform(self):
        return Transform(self.place, self.yaw)

    def get_location(self):
        return self.place

    def get_velocity(self):
        yaw = math.radians(self.yaw)
        return Vector3D(self.speed * math.cos(yaw), self.speed * math.sin(yaw))

    def get_acceleration(self):
        return Vector3D(self.acceleration)

    def apply_control(self, control):
        self.control = control

    def get_physics_control(self):
        return SimpleNamespace(wheels=[SimpleNamespace(tire_friction=w.tire_friction) for w in self.physics.wheels])

    def apply_physics_control(self, physics):
        self.physics = physics

    def tick(self):
        grip = min(1.0, self.physics.wheels[0].tire_friction / 3.5)
        wanted = 4.0 * self.control.throttle - 8.0 * self.control.brake
        before, self.speed = self.speed, max(0.0, self.speed + grip * wanted * DT)
        self.acceleration = (self.speed - before) / DT
        self.yaw += math.degrees(grip * 0.1 * self.control.steer * self.speed * DT)
        moved = self.get_velocity()
        self.place = Location(self.place.x + moved.x * DT, self.place.y + moved.y * DT)


class Environment:
    def __init__(self):
        self.actors, self.frame, self.map = [], 0, Map()
        self.settings = SimpleNamespace(synchronous_mode=False, fixed_delta_seconds=None, no_rendering_mode=False)
        self.library = Library()

    def get_map(self):
        return self.map

    def get_settings(self):
        return SimpleNamespace(**vars(self.settings))

    def apply_settings(self, settings):
        self.settings = settings

    def get_blueprint_library(self):
        return self.library

    def spawn_actor(self, blueprint, transform, attach_to=None):
        actor = Actor(self, blueprint.id, transform)
        self.actors.append(actor)
        return actor

    def get_actors(self, ids):
        return [actor for actor in self.actors if actor.id in ids]

    def tick(self):
        assert self.settings.synchronous_mode, "the clock is ours only in synchronous mode"
        self.frame += 1
        cars = [actor for actor in self.actors if actor.kind.startswith("vehicle.")]
        for car in cars:
            car.tick()
        for sensor in (actor for actor in self.actors if actor.is_listening):
            self._sense(sensor, cars)
        return self.frame

    def _sense(self, sensor, cars):
        if sensor.kind == "sensor.other.collision":
            ways = [car.place - cars[0].place for car in cars[1:]]
            if any(abs(way.x) < 5.0 and abs(way.y) < 2.0 for way in ways):
                sensor.heard(SimpleNamespace(frame=self.frame))
            return
        shape = {"height": 256, "width": 256, "raw_data": bytes([1, 2, 3, 255]) * 256 * 256}
        sensor.heard(SimpleNamespace(frame=self.frame, **shape))


class Library:
    def __init__(self):
        names = ("vehicle.ford.crown", "vehicle.audi.tt", "sensor.other.collision", "sensor.camera.rgb")
        self.all = [SimpleNamespace(id=name, set_attribute=lambda key, value: None) for name in names]

    def find(self, name):
        return next(blueprint for blueprint in self.all if blueprint.id == name)

    def filter(self, pattern):
        return [blueprint for blueprint in self.all if blueprint.id.startswith(pattern.rstrip("*"))]


class _Spawn(SimpleNamespace):
    def then(self, following):
        return self


command = SimpleNamespace(
    FutureActor=0,
    SetAutopilot=lambda actor, on, port: SimpleNamespace(port=port),
    SpawnActor=lambda blueprint, place: _Spawn(blueprint=blueprint, place=place),
    DestroyActor=lambda actor: SimpleNamespace(gone=actor),
)


class Client:
    """All clients speak to one server."""

    environment, version, is_there = Environment(), "0.9.16", True

    def __init__(self, host, port):
        self.seed = None

    def set_timeout(self, secs):
        self.secs = secs

    def get_client_version(self):
        return "0.9.16"

    def get_server_version(self):
        if not self.is_there:
            raise RuntimeError(f"time-out of {self.secs}s while waiting for the simulator")
        return self.version

    def get_environment(self):
        return self.environment

    def load_environment(self, town):
        raise AssertionError(f"{town} is loaded already")

    def get_trafficmanager(self, port):
        return SimpleNamespace(set_synchronous_mode=lambda on: None, set_random_device_seed=lambda seed: None)

    def apply_batch_sync(self, batch, tick):
        return [self._answer(own) for own in batch]

    def _answer(self, own):
        if hasattr(own, "gone"):
            self.environment.actors.remove(own.gone)
            return SimpleNamespace(error="", actor_id=own.gone.id)
        return SimpleNamespace(error="", actor_id=self.environment.spawn_actor(own.blueprint, own.place).id)
