"""The messages that a reconciliation found missing on the right, as positions that a replay reads."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

LOST: Final = "missing.jsonl"


@dataclass(slots=True)
class Lost:
    """Gathers the positions while the differences pass."""

    offsets: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))

    def through(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, with their positions noted."""
        for batch in batches:
            places = batch.column("lost").flatten()
            columns = (places.field(number).to_pylist() for number in range(3))
            for broker, queue_id, offset in zip(*columns, strict=True):
                self.offsets[broker, queue_id].add(offset)
            yield batch

    def write(self, folder: Path) -> int:
        """Write a line for each queue; return how many messages they name. Without any there is no file."""
        count = sum(map(len, self.offsets.values()))
        if count:
            lines = [
                json.dumps({"broker": broker, "queue": queue_id, "offsets": sorted(offsets)})
                for (broker, queue_id), offsets in sorted(self.offsets.items())
            ]
            (folder / f"{LOST}.part").write_text("\n".join([*lines, ""]))
            (folder / f"{LOST}.part").replace(folder / LOST)
        return count
