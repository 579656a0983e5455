"""Adds what queues keep beside their units when units are written (store/README.md#extended-queues)."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.store.commit_log import CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.extension import ExtensionUnit
from broker_core.store.layout import UNIT_BYTES
from broker_core.store.units import FILLER_SIZE, UNIT

BitsOf = Callable[[str, memoryview], bytes]
"""Returns the filter bits of a record of a topic; none if the topic has no filters."""


class Extender:
    """Writes units of extensions; until `bits_of` is set, without bits."""

    def __init__(self, log: CommitLog) -> None:
        self._log = log
        self.bits_of: BitsOf = lambda _topic, _record: b""

    def __call__(self, queue: ConsumeQueue, units: bytes) -> bytes:
        """Write what belongs to these units of a queue; return them with addresses. Raises StoreFull.

        A unit whose record the log does not have stays as it is.
        """
        extension = queue.extension
        if extension is None:
            return units
        addressed = bytearray(units)
        for at, (log_offset, size, code) in zip(range(0, len(units), UNIT_BYTES), UNIT.iter_unpack(units), strict=True):
            record = None if size == FILLER_SIZE else self._log.read(log_offset, size)
            store_time = None if record is None else self._log.store_time(log_offset)
            if record is not None and store_time is not None:
                (address,) = extension.append([ExtensionUnit(code, store_time, self.bits_of(queue.topic, record))])
                UNIT.pack_into(addressed, at, log_offset, size, address)
        return bytes(addressed)
