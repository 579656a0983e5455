"""What this process settled of leases that another one granted: told to it through Redis, ten times a second.

The stream ``gantry:leases:settled`` has an entry for each turn of a process: `from`, which process it was, and
`settled`, a MessagePack array of the text of a portion and its queue offsets. Whoever granted the portion stops
counting. The stream is short and ends a minute after its last entry: what was not read from it counts until its lease
ends, as does everything while Redis is away for long.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
import redis.asyncio
from redis.exceptions import RedisError

STREAM: Final = "gantry:leases:settled"
PERIOD_SECONDS: Final = 0.1
_SWEEP_SECONDS: Final = 1.0
_CATCH_UP_SECONDS: Final = 0.5
_KEEP_SECONDS: Final = 60
_ENTRIES: Final = 400
# Above this number the oldest are not told: Redis has been away for long.
_MOST_UNTOLD: Final = 200_000

_log = logging.getLogger(__name__)

Settled = Callable[[str, Sequence[int]], object]
_decode: Final = msgspec.msgpack.Decoder(list[tuple[str, list[int]]]).decode


class ToldLeases:
    """Tells other processes what was settled here, and calls `settled` with what they told."""

    def __init__(
        self, store: redis.asyncio.Redis, settled: Settled, *, listens: Callable[[], bool], sweep: Callable[[], object]
    ) -> None:
        """`listens` says whether leases are counted here; `sweep` is called about once a second."""
        self._store = store
        self._settled = settled
        self._listens = listens
        self._sweep = sweep
        self._process = secrets.token_hex(6).encode()
        self._untold: dict[str, list[int]] = {}
        self._untold_count = 0
        self._read_to: bytes = b""
        self._is_alone = False
        self._is_stopped = False
        self._turn = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def tell(self, portion: str, offsets: Sequence[int]) -> None:
        """Have the process that granted a portion told that these leases of it have ended."""
        known = self._untold.get(portion)
        if known is None:
            self._untold[portion] = list(offsets)
        else:
            known.extend(offsets)
        self._untold_count += len(offsets)
        while self._untold_count > _MOST_UNTOLD:
            self._untold_count -= len(self._untold.pop(next(iter(self._untold))))

    def start(self) -> None:
        """Tell and listen until `stop`."""
        self._is_stopped = False
        self._task = asyncio.create_task(self._run(), name="leases: tell other processes")

    async def stop(self) -> None:
        """Tell what is left, and stop."""
        if self._task is None:
            return
        self._is_stopped = True
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._task = None
        await self.share()

    async def catch_up(self) -> None:
        """Wait until what the others told so far is known here; at most half a second."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                await self._turn.wait()
                await self._turn.wait()

    async def share(self) -> None:
        """Tell and listen once; what could not be told is told at a later turn."""
        untold = self._untold
        self._untold, self._untold_count = {}, 0
        try:
            if untold:
                await self._add(untold)
                untold = {}
            if self._listens():
                await self._read()
        except (RedisError, OSError) as error:
            for portion, offsets in self._untold.items():
                untold.setdefault(portion, []).extend(offsets)
            self._untold, self._untold_count = untold, sum(map(len, untold.values()))
            if not self._is_alone:
                _log.warning("leases that another process settles count here until Redis answers: %s", error)
            self._is_alone = True
        else:
            self._is_alone = False

    async def _add(self, untold: dict[str, list[int]]) -> None:
        entry: dict[Any, Any] = {b"from": self._process, b"settled": msgspec.msgpack.encode(list(untold.items()))}
        pipe = self._store.pipeline(transaction=False)
        pipe.xadd(STREAM, entry, maxlen=_ENTRIES)
        pipe.expire(STREAM, _KEEP_SECONDS)
        await pipe.execute()

    async def _read(self) -> None:
        found: Any = await self._store.xread({STREAM: self._read_to or b"0-0"}, count=_ENTRIES)
        for _, entries in found:
            for number, entry in entries:
                self._read_to = number
                if entry[b"from"] == self._process:
                    continue
                for portion, offsets in _decode(entry[b"settled"]):
                    self._settled(portion, offsets)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        swept_at = loop.time()
        # A cancellation that meets the end of a wait for Redis is taken for that end, and lost.
        while not self._is_stopped:
            await asyncio.sleep(PERIOD_SECONDS)
            await self.share()
            self._turn.set()
            self._turn.clear()
            if loop.time() >= swept_at + _SWEEP_SECONDS:
                swept_at = loop.time()
                self._sweep()
