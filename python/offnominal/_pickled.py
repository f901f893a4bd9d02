"""The file of a monitor whose detector is written in Python: a zip with the engine's part, the pickle, and its digest."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from hashlib import sha256
from typing import Any

_ENGINE, _OWN, _DIGEST = "monitor.safetensors", "detector.pickle", "detector.sha256"

#: Most bytes of a part, so that a small file cannot ask for all memory.
_MOST = 2**32


def written(content: bytes, own: Any) -> bytes:
    """The bytes of the file."""
    pickled = pickle.dumps(own)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in ((_ENGINE, content), (_OWN, pickled), (_DIGEST, sha256(pickled).hexdigest().encode())):
            # The same monitor gives the same bytes.
            file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), part)
    return buffer.getvalue()


def is_one(path: str | os.PathLike[str]) -> bool:
    """Whether it is such a file, and not one of the engine."""
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def read(path: str | os.PathLike[str], trusted: bool) -> tuple[bytes, Any]:
    """The engine's part, and the object.

    :raises ValueError: if it is damaged, or not trusted.
    """
    if not trusted:
        raise ValueError(
            f"{os.fspath(path)}: expected trusted=True, for its detector is written in Python and opening it executes what "
            "is in the file, found False"
        )
    try:
        with zipfile.ZipFile(path) as file:
            large = [info.filename for info in file.infolist() if info.file_size > _MOST]
            if large:
                raise ValueError(f"{os.fspath(path)}: expected parts of at most {_MOST} bytes, found more in {large[0]}")
            content, pickled, digest = (file.read(name) for name in (_ENGINE, _OWN, _DIGEST))
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ValueError(f"{os.fspath(path)}: expected the file of a monitor, found a damaged one: {error}") from None
    found = sha256(pickled).hexdigest()
    if found != digest.decode(errors="replace"):
        raise ValueError(f"{os.fspath(path)}: expected a detector with SHA-256 {digest.decode(errors='replace')}, found {found}")
    return content, pickle.loads(pickled)
