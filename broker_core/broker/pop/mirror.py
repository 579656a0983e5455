"""The leases of a master, told to its slaves (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Final

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.pop.changes import Change
from broker_core.broker.pop.feed import LeaseFeed
from broker_core.broker.pop.journal import decode_all, encode
from broker_core.broker.pop.leases import Leases
from broker_core.logs import get_logger
from broker_core.protocol.bodies.state import LeaseChanges
from broker_core.protocol.errors import MalformedBody

MOST_BYTES: Final = 8 * 1024 * 1024
"""Of one answer, compressed; half of what a frame may have."""
_FASTEST: Final = 1
_MOST_UNPACKED_BYTES: Final = 512 * 1024 * 1024

_log = get_logger(__name__)


class LeaseTeller:
    """Tells slaves what changed; whoever lacks more than the feed keeps gets all leases."""

    def __init__(self, leases: Leases, feed: LeaseFeed) -> None:
        self._leases = leases
        self._feed = feed

    @property
    def count(self) -> int:
        """How many changes there were; to be given to the next call."""
        return self._feed.count

    def since(self, count: int | None) -> LeaseChanges | None:
        """Return what changed after the first `count` changes, None if nothing did; all leases without a count."""
        changed = None if count is None else self._feed.since(count)
        if changed == b"":
            return None
        if changed is not None:
            return LeaseChanges(is_whole=False, frames=_packed(changed))
        self._feed.begin()
        frames = _packed(b"".join(map(encode, self._leases.snapshot())))
        if len(frames) > MOST_BYTES:
            _log.error(
                "%d leases are too many to be told to slaves: after a switch all of them come again", len(self._leases)
            )
            frames = _packed(b"")
        return LeaseChanges(is_whole=True, frames=frames)


def changes_of(told: LeaseChanges) -> Sequence[Change]:
    """Return the changes that a master told; raises MalformedBody."""
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(b64decode(told.frames, validate=True), _MOST_UNPACKED_BYTES)
        changes, end = decode_all(data)
    except (ValueError, zlib.error, BadConfigFile) as error:
        raise MalformedBody(f"leases: {error}") from error
    if end != len(data) or not unpacking.eof:
        raise MalformedBody(f"leases: {len(data)} bytes, of which {end} are whole changes")
    return changes


def _packed(frames: bytes) -> str:
    return b64encode(zlib.compress(frames, _FASTEST)).decode()
