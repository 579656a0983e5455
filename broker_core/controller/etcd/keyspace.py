"""The keys below one folder of etcd, read whole once and by their changes after that (controller/README.md#reading)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from broker_core.controller.decisions import Kept
from broker_core.controller.etcd.messages import Json, KeyValue, all_keys, key_values, number, revision_of

_NAMES: Final = "names/"
_LEADER: Final = "leader"


@dataclass(frozen=True, slots=True)
class Keys:
    """Which key is which below a folder, which ends with a slash."""

    folder: str

    @property
    def leader(self) -> str:
        """The key of whoever leads."""
        return f"{self.folder}{_LEADER}"

    def of(self, name: str) -> str:
        """Return the key of a broker name."""
        return f"{self.folder}{_NAMES}{name}"

    def name_of(self, key: str) -> str | None:
        """Return the broker name of a key, or None."""
        start = f"{self.folder}{_NAMES}"
        return key.removeprefix(start) if key.startswith(start) else None


class Keyspace:
    """What the last read showed. Fed with answers; asks nothing itself."""

    def __init__(self, keys: Keys) -> None:
        self.revision = 0
        self._keys = keys
        self._found: dict[str, KeyValue] = {}
        self._is_whole = False

    @property
    def names(self) -> dict[str, Kept]:
        """Each name with what is kept for it."""
        named = ((self._keys.name_of(key), pair) for key, pair in sorted(self._found.items()))
        return {name: Kept(pair.text, pair.mark) for name, pair in named if name is not None}

    @property
    def leader_text(self) -> str | None:
        """What the leader key holds."""
        found = self._found.get(self._keys.leader)
        return None if found is None else found.text

    @property
    def newest(self) -> int:
        """The revision of the newest writing that is still there."""
        return max((pair.mark.modified for pair in self._found.values()), default=0)

    def distrust(self) -> None:
        """Read whole the next time: after a failure etcd may be another one, restored from a copy."""
        self._is_whole = False

    def request(self) -> Json:
        """Return what to ask now: everything, or what changed since the last answer."""
        return all_keys(self._keys.folder, self.revision + 1 if self._is_whole else 0)

    def take(self, asked: Json, answer: Json) -> set[str] | None:
        """Take an answer; return the keys that differ from before. None: it does not fit, all must be asked."""
        pairs = {pair.key: pair for pair in key_values(answer)}
        revision = revision_of(answer)
        if "min_mod_revision" in asked:
            pairs = self._found | pairs
            # Fewer are there than we know: some were deleted. A revision before ours: the engine was set back.
            if len(pairs) != number(answer, "count") or revision < self.revision:
                self.distrust()
                return None
        changed = {key for key in self._found.keys() | pairs.keys() if self._found.get(key) != pairs.get(key)}
        self._found, self.revision, self._is_whole = pairs, revision, True
        return changed
