"""A store full of hard cases: what writers may write, and what disks make of it.

Messages go through the real store's writer. What it would never write (records of version 2, broken bytes, every kind
of damage) is patched into the files after it has closed them. The order is drawn from a seed.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import lz4.frame
import zstandard

from broker_core.protocol.host import encode_host
from broker_core.store import Incoming, MessageStore, StoreConfig
from broker_core.store.columns import Damage
from tests.support.stores import overwrite

TOPIC: Final = "hard"
QUEUES: Final = 2
MIB: Final = 1 << 20
SEGMENT_BYTES: Final = 4 * MIB + 4096
"""A record with the largest body fits, and hardly anything beside it."""
BEGIN: Final = 1_700_000_000_000
FIRST_MS: Final = -62_135_596_800_000
LAST_MS: Final = 253_402_300_799_999
_QUEUE_FILE_UNITS = 40
_V4, _OTHER_V4 = encode_host("10.0.0.1", 5000), encode_host("192.168.255.254", 65535)
_V6, _OTHER_V6 = encode_host("fe80::1", 5001), encode_host("2001:db8::ff00:42:8329", 10911)
_KNOWN: Final = {
    "zlib of old clients": (0x1, zlib.compress),
    "lz4": (0x101, lz4.frame.compress),
    "zstd": (0x201, zstandard.ZstdCompressor().compress),
    "zstd without its size": (0x201, zstandard.ZstdCompressor(write_content_size=False).compress),
    "zlib": (0x301, zlib.compress),
}


@dataclass(frozen=True)
class Written:
    """Where a message is: what a patch needs."""

    store: Path
    queue_id: int
    queue_offset: int
    log_offset: int
    size: int

    def record(self) -> bytes:
        """Return its bytes."""
        path, at = self._place
        with path.open("rb") as file:
            file.seek(at)
            return file.read(self.size)

    def patch(self, at: int, data: bytes) -> None:
        """Overwrite bytes of the record."""
        overwrite(self._place[0], self._place[1] + at, data)

    def patch_number(self, at: int, number: int, form: str = ">i") -> None:
        """Overwrite a number in the record's head."""
        self.patch(at, struct.pack(form, number))

    def patch_unit(self, log_offset: int, size: int, tags_code: int = 0) -> None:
        """Overwrite its unit in the queue."""
        start, number = divmod(self.queue_offset, _QUEUE_FILE_UNITS)
        folder = self.store / "consumequeue" / TOPIC / str(self.queue_id)
        path = folder / f"{start * _QUEUE_FILE_UNITS * 20:020d}"
        overwrite(path, number * 20, struct.pack(">qiq", log_offset, size, tags_code))

    @property
    def _place(self) -> tuple[Path, int]:
        start, at = divmod(self.log_offset, SEGMENT_BYTES)
        return self.store / "commitlog" / f"{start * SEGMENT_BYTES:020d}", at


Patch = Callable[[Written], None]


@dataclass(frozen=True)
class Case:
    """One message, and what happens to its bytes afterwards."""

    body: bytes = b"usual"
    text: str = "KEYS\x01k1\x02TAGS\x01A"
    sys_flag: int = 0
    flag: int = 0
    born: int = BEGIN - 5
    born_host: bytes = _V4
    store_host: bytes = _OTHER_V4
    reconsumed: int = 0
    prepared: int = 0
    patch: Patch | None = None
    damage: Damage = Damage.NONE
    """What the patch makes of the record."""


@dataclass(frozen=True)
class HardStore:
    """The folder, and where which damage is."""

    folder: Path
    damage: dict[tuple[int, int], Damage]
    """By queue id and queue offset."""


def write_hard_store(folder: Path, seed: int) -> HardStore:
    """Write all cases into a topic of two queues, in the order that the seed draws; the broker may open the folder."""
    cases = [*_bodies(), *_texts(), *_heads(), *_broken(), *_damaged(), *(Case() for _ in range(60))]
    random.Random(seed).shuffle(cases)
    # A writer that opens the folder looks at the newest message of each queue: damage there would make it search.
    cases += [Case(body=b"the last one")] * QUEUES
    usual = StoreConfig.embedded(folder)
    config = replace(usual, commit_log_file_size=SEGMENT_BYTES, consume_queue_file_units=_QUEUE_FILE_UNITS)
    written = []
    with MessageStore.open(config, now=BEGIN) as store:
        for number, case in enumerate(cases):
            put = store.put(_incoming(case, number % QUEUES, BEGIN + number))
            written.append(Written(folder, number % QUEUES, number // QUEUES, put.log_offset, put.size))
            store.dispatch()
    list_topic(folder, TOPIC)
    for case, place in zip(cases, written, strict=True):
        if case.patch:
            case.patch(place)
    damage = {(place.queue_id, place.queue_offset): case.damage for case, place in zip(cases, written, strict=True)}
    return HardStore(folder, {place: kind for place, kind in damage.items() if kind})


def _incoming(case: Case, queue_id: int, now: int) -> Incoming:
    return Incoming(
        TOPIC, queue_id, case.body, case.text, case.flag, case.sys_flag, case.born, case.born_host, now,
        case.store_host, case.reconsumed, case.prepared,
    )  # fmt: skip


def list_topic(folder: Path, name: str) -> None:
    """Write a broker's list of topics: one, of two queues."""
    topic = {"topicName": name, "readQueueNums": QUEUES, "writeQueueNums": QUEUES, "perm": 6, "topicSysFlag": 0}
    (folder / "config").mkdir()
    (folder / "config" / "topics.json").write_text(
        json.dumps({"dataVersion": {"timestamp": BEGIN, "counter": 1}, "topicConfigTable": {name: topic}})
    )


def _bodies() -> Iterator[Case]:
    large = random.Random(7).randbytes(4 * MIB)
    yield Case(body=b"")
    yield Case(body=b"", text="")
    yield Case(body=large)
    yield Case(body=large[::-1])
    yield Case(body=b"\x00" * 100)
    for flag, pack in _KNOWN.values():
        for body in (b"", b"x", b"text " * 100, large[:1000], b"much " * (4 * MIB // 5)):
            yield Case(body=pack(body), sys_flag=flag)


def _texts() -> Iterator[Case]:
    for text in (
        "",
        "KEYS\x01\x02TAGS\x01A",
        "KEYS\x01   ",
        "KEYS\x01 a  b   c  \x02",
        "KEYS\x01" + " ".join(f"key{number}" for number in range(500)),
        "TAGS\x01A\x02TAGS\x01B\x02TAGS\x01\x02",
        "KEYS\x01first\x02a\x011\x02a\x012\x02KEYS\x01second third\x02",
        "UNIQ_KEY\x010A000001000018B4AAC2000000000000\x02KEYS\x01k1",
        "UNIQ_KEY\x01nothing like an id",
        "\x01value\x02name\x02\x02name\x01\x02\x01\x02kept\x01a\x01b",
        "KEYS\x01ключ 鍵 🔑\x02TAGS\x01β\x02ÜNI\x01ß",
        "\x02".join(f"name{number}\x01{number}" for number in range(70)),
        "\x02".join(f"name{number % 50}\x01{number}" for number in range(170)) + "\x02KEYS\x01of many",
        "long\x01" + "v" * 32000,
        "KEYSX\x01not the keys\x02XKEYS\x01nor these\x02TAGS2\x01no tag",
    ):
        yield Case(text=text)
    # Records of version 2, also with IPv6 hosts and without anything.
    for text, hosts in (("TAGS\x01A\x02", (_V4, _V4)), ("KEYS\x01k1 k2\x02", (_V6, _V6)), ("\x02", (_V6, _V4))):
        yield Case(text=text, born_host=hosts[0], store_host=hosts[1], patch=_to_version_2)
    yield Case(body=b"", text="\x02", patch=_to_version_2)
    yield Case(body=zlib.compress(b"two" * 50), text="TAGS\x01B\x02", sys_flag=0x301, patch=_to_version_2)


def _heads() -> Iterator[Case]:
    for born_host, store_host in ((_V6, _V4), (_V4, _V6), (_V6, _OTHER_V6)):
        yield Case(born_host=born_host, store_host=store_host)
        yield Case(born_host=born_host, store_host=store_host, text="UNIQ_KEY\x01ID", body=b"")
    yield Case(sys_flag=0x8, prepared=123_456_789_012)
    yield Case(sys_flag=0x2, flag=-1, reconsumed=2**31 - 1, prepared=-1)
    yield Case(flag=2**31 - 1, born=0)
    yield Case(flag=-(2**31), born=-1)
    # The times that Spark can show end with the year 9999; producers may send any.
    yield Case(born=LAST_MS)
    yield Case(born=FIRST_MS)
    for born in (LAST_MS + 1, FIRST_MS - 1, 2**63 - 1, -(2**63), 10**16):
        yield Case(born=born)


def _broken() -> Iterator[Case]:
    """Yield records that are sound, with contents that are not."""
    for text in ("KEYS\x01k@@ k2\x02TAGS\x01A", "KEYS\x01k1\x02TAGS\x01@@", "na@@me\x01value", "UNIQ_KEY\x01@@"):
        for broken in (b"\xff\xfe", b"\xc3(", b"\xed\xa0"):
            yield Case(text=text, patch=_replacing(b"@@", broken))
    for flag, pack in _KNOWN.values():
        body = pack(b"text " * 100)
        for wrong in (b"no such bytes", body[: len(body) // 2], b""):
            yield Case(body=wrong, sys_flag=flag)
    yield Case(body=b"compressed by nobody", sys_flag=0x401)
    yield Case(body=b"not compressed", sys_flag=0x300)


def _damaged() -> Iterator[Case]:
    def case(damage: Damage, patch: Patch) -> Case:
        return Case(text="UNIQ_KEY\x01U\x02KEYS\x01k1\x02TAGS\x01A", body=b"a body", damage=damage, patch=patch)

    yield case(Damage.OUTSIDE, lambda place: place.patch_number(0, 2**31 - 1))
    yield case(Damage.OUTSIDE, lambda place: place.patch_number(0, 90))
    yield case(Damage.OUTSIDE, lambda place: place.patch_number(84, -5))
    yield case(Damage.OUTSIDE, lambda place: place.patch_number(84, 2**31 - 1))
    yield case(Damage.MAGIC, lambda place: place.patch_number(4, 0))
    yield case(Damage.MAGIC, lambda place: place.patch(4, bytes.fromhex("CBD43194")))
    yield case(Damage.MAGIC, lambda place: place.patch(0, bytes(place.size)))
    yield case(Damage.SIZE, lambda place: place.patch_unit(place.log_offset, place.size + 1))
    yield case(Damage.SIZE, lambda place: place.patch_unit(place.log_offset, 2**31 - 2))
    yield case(Damage.SIZE, lambda place: place.patch_number(0, place.size - 1))
    yield case(Damage.PLACE, lambda place: place.patch_number(28, place.log_offset + 1, ">q"))
    yield case(Damage.PLACE, lambda place: place.patch_number(20, place.queue_offset + 1, ">q"))
    yield case(Damage.PARTS, lambda place: place.patch_number(84, 5))
    yield case(Damage.PARTS, lambda place: place.patch_number(88 + 6 + 1 + len(TOPIC), 1, ">h"))
    yield case(Damage.PARTS, lambda place: place.patch_number(88 + 6, -1, ">b"))
    yield case(Damage.QUEUE, lambda place: place.patch_number(12, place.queue_id + 1))
    yield case(Damage.QUEUE, lambda place: place.patch(88 + 6 + 1, b"H"))
    yield case(Damage.BODY, lambda place: place.patch(88, b"A"))
    yield case(Damage.BODY, lambda place: place.patch_number(8, 0))
    yield case(Damage.EMPTY, lambda place: place.patch_unit(0, 0))
    yield case(Damage.EMPTY, lambda place: place.patch_unit(0, 2**31 - 1))
    yield case(Damage.EMPTY, lambda place: place.patch_unit(place.log_offset, -place.size))
    yield case(Damage.NOWHERE, lambda place: place.patch_unit(1 << 40, place.size))
    yield case(Damage.NOWHERE, lambda place: place.patch_unit(-1, place.size))


def _replacing(old: bytes, new: bytes) -> Patch:
    def patch(place: Written) -> None:
        place.patch(place.record().index(old), new)

    return patch


def _to_version_2(place: Written) -> None:
    """Make a record of version 2 of one whose text ends with an optional U+0002: the topic's length takes its byte."""
    record = place.record()
    length = len(TOPIC)
    at = record.rindex(bytes((length,)) + TOPIC.encode())
    (text_size,) = struct.unpack_from(">h", record, at + 1 + length)
    text = record[at + 1 + length + 2 :]
    assert len(text) == text_size
    assert text.endswith(b"\x02")
    place.patch(4, bytes.fromhex("DAA320AB"))
    place.patch(at, struct.pack(">h", length) + TOPIC.encode() + struct.pack(">h", text_size - 1) + text[:-1])
