"""The abilities of the known clusters, asked at most twice a minute by each process."""

from __future__ import annotations

import threading
import time
from typing import Final

from broker_core.errors import GantryError
from console.brokers.abilities import Ability, abilities_of, unknown
from console.clusters.connections import ask
from console.clusters.reasons import reason_of
from console.clusters.single_flight import SingleFlight

_KEEP_SECONDS: Final = 30.0
# A cluster that did not say everything is asked again soon.
_KEEP_UNKNOWN_SECONDS: Final = 5.0
_ASK_SECONDS: Final = 4.0

_guard: Final = threading.Lock()
_kept: Final[dict[tuple[str, str], tuple[float, list[Ability]]]] = {}
_single_flight: Final[SingleFlight[list[Ability]]] = SingleFlight()


def capabilities(cluster: str, tag: str) -> list[Ability]:
    """Return the abilities of a cluster; `tag` is the version of its addresses. What cannot be asked is unknown."""
    key = (cluster, tag)
    with _guard:
        until, found = _kept.get(key, (0.0, []))
    if time.monotonic() < until:
        return found
    found = _single_flight.join(f"{cluster} {tag}", lambda: _asked(cluster))
    is_whole = all(each.state != "unknown" for each in found)
    with _guard:
        for other in [other for other in _kept if other[0] == cluster]:
            del _kept[other]
        _kept[key] = time.monotonic() + (_KEEP_SECONDS if is_whole else _KEEP_UNKNOWN_SECONDS), found
    return found


def _asked(cluster: str) -> list[Ability]:
    try:
        return ask(cluster, abilities_of, seconds=_ASK_SECONDS)
    except GantryError as error:
        return unknown(reason_of(error))
