"""What the requests of all programs have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from broker_core.spark.errors import BadRequest

SKIP: Final = "skip"
STOP: Final = "stop"
_ON_DAMAGE: Final = (SKIP, STOP)


def on_damage(request: Mapping[str, Any]) -> str:
    """Return whether damage is passed over and told of, or ends the job; raise BadRequest for another wish."""
    wanted = request["request"].get("on_damage") or SKIP
    if wanted not in _ON_DAMAGE:
        raise BadRequest(f"on_damage={wanted!r}: one of {', '.join(_ON_DAMAGE)}")
    return str(wanted)


def source_place(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `SourceOptions` that say where topics are: in files that Spark can see, else on the wire."""
    place = request["source"]
    is_here = request["spark"]["master"].startswith("local")
    if place.get("store") and is_here:
        return {"stores": (Path(place["store"]),), "brokers": (place["broker"],)}
    if not place["name_servers"]:
        raise BadRequest("the request names neither a store that Spark can see nor a name server")
    return {"name_servers": tuple(place["name_servers"])}
