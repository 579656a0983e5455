"""Keeps the order within ordering keys: a later message must not overtake one that failed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gateway.data.sending import SendOutcome, failed
from gateway.problems import ProblemError


def held_back(
    messages: Iterable[tuple[str, str | None]], refused: Mapping[str, SendOutcome], broken: dict[str, ProblemError]
) -> dict[str, SendOutcome]:
    """Return by entry id the outcomes of messages that must not be sent as one of their key was refused before them.

    `messages` are entry ids and ordering keys, in their order. `broken` has the problem of each key that failed before;
    the keys of what was refused are added. What was refused itself keeps its own outcome.
    """
    held: dict[str, SendOutcome] = {}
    for entry_id, key in messages:
        if not key:
            continue
        outcome = refused.get(entry_id)
        if outcome is None and key in broken:
            held[entry_id] = failed(entry_id, broken[key])
        elif outcome is not None and outcome.problem is not None:
            broken.setdefault(key, outcome.problem)
    return held
