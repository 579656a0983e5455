"""Our own code as a zip for executors that share only the network with this machine, made once for each content."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path


def packed_code(package: Path, caches: Sequence[Path]) -> Path:
    """Return the zip of a package, from the first folder that has it; else make it in the first of them.

    It is compiled, for Spark requires the same Python there: each of its workers would compile all of it again.
    """
    name = f"{package.name}-{_digest(package)}.zip"
    found = next((cache / name for cache in caches if (cache / name).exists()), None)
    return found or _pack(package, caches[0] / name)


def _pack(package: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.{os.getpid()}")
    with zipfile.PyZipFile(str(beside), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writepy(str(package))
    # Jobs that start together may both make it: each is whole, and they are alike.
    beside.replace(target)
    return target


def _digest(package: Path) -> str:
    """Return a hash of all that the zip is made of: the Python that compiles, names and texts of the modules."""
    content = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        content.update(f"{file.relative_to(package)}\0{len(text)}\0".encode() + text)
    return content.hexdigest()[:16]
