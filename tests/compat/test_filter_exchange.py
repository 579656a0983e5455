"""A store folder passes between Gantry and Apache RocketMQ while a group selects by SQL92, with filter bits or without.

Each goes on with the filter, the bits and the extended queues of the other, and the group gets what it selects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.filters.bloom import Bloom
from broker_core.client import LITE, SQL92, LitePullConsumer, Message, Producer, Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.store.extension import ExtensionUnit, QueueExtension, is_address
from broker_core.store.reader import StoreReader
from broker_core.store.units import UNIT
from broker_core.store.verify import verify
from tests.compat.exchange import SIZES, Server
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker, create_topic
from tests.support.ports import free_ports
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

TOPIC, GROUP = "orders", "large"
EXPRESSION = "amount > 40 AND region IN ('eu')"
QUEUES, PART = 2, 120
FILE_BYTES = 4096
FIRST = replace(LITE, start_from="first")
BITS = {
    "mappedFileSizeConsumeQueueExt": str(FILE_BYTES),
    "enableConsumeQueueExt": "true",
    "enableCalcFilterBitMap": "true",
}
SETTINGS = {name: value for name, value in SIZES.items() if name not in ("messageIndexSafe", "mappedFileSizeCommitLog")}
BLOOM = Bloom.of(error_percent=20, consumers=32)
PASSED = BLOOM.bytes_of(BLOOM.places_of(GROUP, TOPIC))


def brokers(folder: Path, *, gantry_extends: bool) -> dict[str, Server]:
    """Return both brokers, not started, on one folder and one port."""
    address = f"127.0.0.1:{free_ports(4) + 2}"
    ours = ("--commit-log-file-size", SIZES["mappedFileSizeCommitLog"])
    settings = SETTINGS | (BITS if gantry_extends else {})
    return {
        "gantry": RunningBroker(folder, arguments=ours, settings=settings, address=address),
        "apache": ApacheBroker(folder, settings=SIZES | BITS | {"enablePropertyFilter": "true"}, address=address),
    }


@dataclass
class Selecting:
    """A group that selects, and what it has got so far."""

    got: list[int] = field(default_factory=list)
    sent: int = 0

    async def go_on(self, session: Session) -> None:
        """Send a part while the group listens, and wait until it has what it selects of it."""
        consumer = LitePullConsumer(session, GROUP, FIRST, auto_commit=False)
        consumer.subscribe(TOPIC, EXPRESSION, kind=SQL92)
        async with consumer, Producer(session) as producer:
            await eventually(lambda: len(consumer.assigned) == QUEUES)
            for number in range(self.sent, self.sent + PART):
                queue = MessageQueue(TOPIC, "broker-a", number % QUEUES)
                await producer.send(message(number), queue=queue)
            self.sent += PART
            while not set(self.got) >= self.wanted:
                self.got += [int(each.body) for each in await consumer.poll()]
                await consumer.commit()

    @property
    def wanted(self) -> set[int]:
        return {number for number in range(self.sent) if matches(number)}


def message(number: int) -> Message:
    properties = {"amount": str(number % 100), "region": ("eu", "us", "asia")[number % 3]}
    return Message.create(TOPIC, b"%d" % number, tag=("even", "odd")[number % 2], properties=properties)


def matches(number: int) -> bool:
    return number % 100 > 40 and number % 3 == 0


def extended(folder: Path) -> Iterator[tuple[int, ExtensionUnit | None]]:
    """Yield the number of each message, with what its queue has beside its unit."""
    for queue_id in range(QUEUES):
        extension = QueueExtension.load(folder, TOPIC, queue_id, file_size=FILE_BYTES, writable=False)
        files = sorted((folder / "consumequeue" / TOPIC / str(queue_id)).iterdir())
        units = UNIT.iter_unpack(b"".join(file.read_bytes() for file in files))
        codes = [code for _, size, code in units if size]
        for at, code in enumerate(codes):
            yield at * QUEUES + queue_id, extension.find(code) if is_address(code) else None


def filter_of(folder: Path) -> dict[str, Any]:
    tree = json.loads((folder / "config/consumerFilter.json").read_text())
    found: dict[str, Any] = tree["filterDataByTopic"][TOPIC]["groupFilterData"][GROUP]
    return found


@pytest.mark.parametrize(
    ("kinds", "gantry_extends"),
    [(("gantry", "apache"), True), (("apache", "gantry"), False)],
    ids=["begun by Gantry", "by Apache, and Gantry does not extend"],
)
async def test_a_filter_and_its_bits_pass_from_one_broker_to_the_other(
    tmp_path: Path, kinds: tuple[str, str], gantry_extends: bool
) -> None:
    both, group, filters = brokers(tmp_path, gantry_extends=gantry_extends), Selecting(), []
    for kind in (*kinds, kinds[0]):
        server = both[kind]
        server.start()
        try:
            async with server.session() as session:
                if not group.sent:
                    await create_topic(session, TOPIC, queues=QUEUES)
                await group.go_on(session)
        finally:
            server.stop()
        filters.append(filter_of(server.store))
    # Each message once, and none that does not match
    assert sorted(group.got) == sorted(group.wanted)
    # The same filter all the time, in the same words
    assert len({tuple(sorted(each)) for each in filters}) == 1
    assert len({(each["bornTime"], each["expression"], str(each["bloomFilterData"])) for each in filters}) == 1
    # The bits that the group passed by, whoever computed them
    found = dict(extended(both["gantry"].store))
    assert len(found) == group.sent
    for number, unit in found.items():
        if kinds[number // PART % 2] == "gantry" and not gantry_extends:
            assert unit is None
        else:
            assert unit is not None
            assert unit.bits == (PASSED if matches(number) else bytes(len(PASSED)))
    with StoreReader.open(both["gantry"].store) as reader:
        assert verify(reader).told == []


async def test_a_killed_broker_leaves_what_the_other_goes_on_with(tmp_path: Path) -> None:
    both, group = brokers(tmp_path, gantry_extends=True), Selecting()
    for kind in ("apache", "gantry", "apache"):
        server = both[kind]
        server.start()
        try:
            async with server.session() as session:
                if not group.sent:
                    await create_topic(session, TOPIC, queues=QUEUES)
                await group.go_on(session)
        finally:
            server.stop(kill=True)
    last = both["gantry"]
    last.start()
    last.stop()
    # Offsets may be those of some seconds ago
    assert set(group.got) == group.wanted
    for number, unit in extended(last.store):
        assert unit is not None
        assert unit.bits in (b"", PASSED if matches(number) else bytes(len(PASSED)))
    with StoreReader.open(last.store) as reader:
        assert verify(reader).told == []
