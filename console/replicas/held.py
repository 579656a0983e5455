"""Replicas that take no part by themselves any more, as each says itself, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from broker_core.client.admin.clusters import BrokerRuntime
from console.replicas.shapes import HeldReplica, Replica

_FOLDER: Final = "keep a copy of its folder, remove it, empty the folder and start it again"
_ADVICE: Final[Mapping[str, str]] = {
    "ahead": _FOLDER,
    "apart": _FOLDER,
    "damaged": "see its log and its disk, then start it again",
    "replaced": "stop one of the two processes that have its id",
    "removed": "empty its folder and start it again, or stop it",
}
_ADVICE_ELSE: Final = "its log says why"


def held_of(runtime: BrokerRuntime | None) -> HeldReplica | None:
    """Return why a replica takes no part by itself; None if it does, does not answer, or does not tell."""
    if runtime is None or not runtime.held:
        return None
    common, end = runtime.common_log_end, runtime.log_end
    more = None if common is None or end is None else max(0, end - common)
    return HeldReplica(
        code=runtime.held,
        reason=runtime.trouble or "",
        common_end=common,
        more_bytes=more,
        advice=advice_on(runtime.held),
    )


def advice_on(code: str) -> str:
    """Return what to do about a replica that is held."""
    return _ADVICE.get(code, _ADVICE_ELSE)


def words_on(number: int, code: str) -> str:
    """Return what to do about a replica that is held, in a sentence that the console translates."""
    return f"replica {number} does not join by itself: {advice_on(code)}"


def why_away(number: int, held: HeldReplica) -> str:
    """Return why no name server lists a replica that is held, in its own words, and what to do about it."""
    words = words_on(number, held.code)
    return f"{held.reason}; {words}" if held.reason else words


def with_words(reason: str | None, replicas: Iterable[Replica]) -> str | None:
    """Return why sends are refused, with the replicas that would be needed and do not come by themselves."""
    parts = [words_on(each.broker_id, each.held.code) for each in replicas if each.held is not None]
    return reason if reason is None else "; ".join([reason, *parts])
