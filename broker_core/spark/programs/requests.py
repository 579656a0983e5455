"""What the requests of all programs have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from broker_core.spark.errors import BadRequest
from broker_core.spark.session import check_master, driver_host, is_local

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
    master = request["spark"]["master"]
    check_master(master)
    if place.get("store") and is_local(master):
        return {"stores": (Path(place["store"]),), "brokers": (place["broker"],)}
    servers = tuple(place["name_servers"])
    if not servers:
        raise BadRequest("the request names neither a store that Spark can see nor a name server")
    if not is_local(master) and not _is_loopback(driver_host(master)):
        for server in servers:
            if _is_loopback(server.rpartition(":")[0]):
                raise BadRequest(
                    f"the executors of {master} cannot reach the name server {server}, an address of this machine "
                    "alone; name one that they can, and have the brokers announce such ones too"
                )
    return {"name_servers": servers}


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.") or host.strip("[]") == "::1"
