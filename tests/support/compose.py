"""``docker-compose.yml`` as this machine can run it: commands and environments, with other paths and ports."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "docker-compose.yml"
# ${NAME}, ${NAME:-default} and ${NAME:?what is missing}, the forms of interpolation that the file uses.
_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


class NotSet(KeyError):
    """A variable without which ``docker compose`` refuses to start."""


@dataclass(frozen=True)
class Service:
    """One service of the file."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[str, ...]
    volumes: tuple[str, ...]
    depends_on: frozenset[str]
    profiles: tuple[str, ...]
    """Where it is started only if one of these is asked for."""
    is_built: bool
    """Whether it runs the image of the Dockerfile."""

    def here(self, *, data: Path, more: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the command for this machine: this Python, and a folder in place of the volume; `more` is added."""
        programs = Path(sys.executable).parent
        first, *rest = self.command
        program = {"python": sys.executable, "celery": str(programs / "celery")}.get(first, first)
        words = (word.replace("/data", str(data)).replace("python ", f"{sys.executable} ") for word in rest)
        return (program, *words, *more)


def services(variables: Mapping[str, str]) -> dict[str, Service]:
    """Return the services by name, with `variables` in place; raise NotSet for one that must be given."""
    found = yaml.safe_load(_filled(FILE.read_text(encoding="utf-8"), variables))
    return {name: _service(name, each) for name, each in found["services"].items()}


def _filled(text: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if variables.get(name):
            return variables[name]
        if kind == "-":
            return str(rest)
        raise NotSet(f"{name}: {rest or ''}")

    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return _VARIABLE.sub(value, "\n".join(lines))


def _service(name: str, found: Mapping[str, Any]) -> Service:
    return Service(
        name=name,
        command=tuple(map(str, found.get("command", ()))),
        environment={key: str(value) for key, value in found.get("environment", {}).items()},
        ports=tuple(map(str, found.get("ports", ()))),
        volumes=tuple(map(str, found.get("volumes", ()))),
        depends_on=frozenset(found.get("depends_on", ())),
        profiles=tuple(found.get("profiles", ())),
        is_built="build" in found,
    )
