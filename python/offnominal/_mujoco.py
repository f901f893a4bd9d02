"""Physical quantities of Gymnasium's MuJoCo environments, by name."""

from __future__ import annotations

from typing import Any, ClassVar


class Mujoco:
    """Sets quantities of one environment; each is relative to the model as it was when this was made.

    ``mass`` (with the inertia), ``friction`` and ``damping`` are factors of all bodies, contacts and joints; ``force``
    pushes the first body along x, in newtons.
    """

    PARAMETERS: ClassVar[dict[str, tuple[float, float, float]]] = {
        "mass": (1.0, 0.01, 100.0),
        "friction": (1.0, 0.0, 100.0),
        "damping": (1.0, 0.0, 100.0),
        "force": (0.0, -1e6, 1e6),
    }
    _ARRAYS: ClassVar[dict[str, tuple[str, ...]]] = {
        "mass": ("body_mass", "body_inertia"),
        "friction": ("geom_friction",),
        "damping": ("dof_damping",),
    }

    @staticmethod
    def fits(env: Any) -> bool:
        """Whether it is such an environment."""
        return hasattr(getattr(env, "model", None), "body_mass") and hasattr(env, "data")

    def __init__(self, env: Any) -> None:
        names = [name for names in self._ARRAYS.values() for name in names]
        self._nominal = {name: getattr(env.model, name).copy() for name in names}
        self._factors = dict.fromkeys(self._ARRAYS, 1.0)

    def get(self, env: Any, name: str) -> float:
        """What a quantity is now; no number where the model is not as it was set."""
        if name == "force":
            return float(env.data.xfrc_applied[1, 0])
        factor = self._factors[name]
        is_there = all((getattr(env.model, array) == factor * self._nominal[array]).all() for array in self._ARRAYS[name])
        return factor if is_there else float("nan")

    def __call__(self, env: Any, name: str, value: float) -> None:
        """Sets a quantity now; constants that MuJoCo derives from it are computed again."""
        if name == "force":
            env.data.xfrc_applied[1, 0] = value
            return
        if self.get(env, name) == value:
            return
        self._factors[name] = value
        for array in self._ARRAYS[name]:
            getattr(env.model, array)[:] = value * self._nominal[array]
        import mujoco

        # The constants are those of the pose in which the model was made: of other data than the episode's.
        mujoco.mj_setConst(env.model, mujoco.MjData(env.model))
