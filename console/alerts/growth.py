"""How many dead letters each group got within the last hour. Remembers one count a minute; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from broker_core.structs import decoded

_SPAN_MS: Final = 3_600_000
_STEP_MS: Final = 60_000


@decoded
class Counts(Struct, kw_only=True):
    """What outlives the sampler: the counts of each group with their moments (ms), oldest first."""

    groups: dict[str, list[tuple[int, int]]] = {}


class Growth:
    """The counts of the last hour. In its first hour ever it counts from its start."""

    def __init__(self, kept: Counts | None = None) -> None:
        self._counts = kept.groups if kept is not None else {}
        self._has_begun = kept is not None

    def counts(self) -> Counts:
        """Return what the next sampler begins with."""
        return Counts(groups=self._counts)

    def step(self, now: int, counts: Mapping[str, float | None], *, is_whole: bool) -> dict[str, float | None]:
        """Return the growth of each group at `now` (ms); unknown counts have an unknown one.

        `is_whole` says that all brokers answered: only then is a group that is absent without dead letters.
        """
        grown = {group: self._of(now, group, count) for group, count in counts.items()}
        if is_whole:
            self._counts = {group: kept for group, kept in self._counts.items() if group in counts}
            self._has_begun = True
        return grown

    def _of(self, now: int, group: str, count: float | None) -> float | None:
        if count is None:
            return None
        kept = self._counts.get(group)
        if kept is None:
            # The first dead letter creates the topic: before, there were none.
            kept = self._counts[group] = [(now, 0 if self._has_begun else int(count)), (now, int(count))]
        if count < kept[-1][1]:
            kept[:] = [(now, int(count))]  # purged, or removed by retention
        elif now - kept[-1][0] >= _STEP_MS:
            kept.append((now, int(count)))
        while len(kept) > 1 and kept[1][0] <= now - _SPAN_MS:
            del kept[0]
        return count - kept[0][1]
