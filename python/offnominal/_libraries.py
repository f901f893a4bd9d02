"""Arrays of any library, such as PyTorch or JAX, on a device or not, and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(array: Any) -> NDArray[Any]:
    """The numbers on the host; without a copy where they are there already."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        # A tensor of PyTorch: one that is on a device or has a gradient is not an array for NumPy.
        array = array.detach().cpu()
    return np.asarray(array)


def as_before(numbers: NDArray[Any], array: Any) -> Any:
    """The numbers as an array of the library, the type and the device of another one.

    :raises ValueError: if its library is none that is known.
    """
    if isinstance(array, np.ndarray):
        return numbers
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.as_tensor(numbers, dtype=array.dtype, device=array.device)
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__().asarray(numbers, dtype=array.dtype, device=array.device)
    raise ValueError(f"expected an array of NumPy, PyTorch or the array API standard, found {type(array).__name__}")
