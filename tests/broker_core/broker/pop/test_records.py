"""Redelivered records: their delivery count and first delivery time, whatever else they contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.pop.records import as_delivered, offset_of
from broker_core.protocol.message import Message
from broker_core.protocol.record import body_is_sound, decode_one, read_head
from broker_core.store import MessageStore
from tests.support.broker import small_store
from tests.support.stores import incoming


def record_of(folder: pytest.TempPathFactory, message: Message, born: str, stored: str) -> memoryview | bytes:
    with MessageStore.open(small_store(folder.mktemp("store"), commit_log_file_size=64 * 1024), now=0) as store:
        put = store.put(
            incoming(
                message,
                queue_id=3,
                born_timestamp=5,
                born_host=(born, 1),
                store_host=(stored, 2),
                reconsume_times=2,
                now=7,
            )
        )
        record = store.find_raw(put.log_offset)
    assert record is not None
    return record


@given(
    deliveries=st.integers(0, 1_000),
    first=st.sampled_from([0, 1, 1_700_000_000_000]),
    born=st.sampled_from(["10.0.0.9", "2001:db8::9"]),
    stored=st.sampled_from(["10.0.0.5", "2001:db8::5"]),
    properties=st.sampled_from([{}, {"KEYS": "A17"}, {"KEYS": "A17", "1ST_POP_TIME": "3"}, {"a": "\0"}]),
)
def test_a_copy_reports_its_count_and_its_first_delivery(
    tmp_path_factory: pytest.TempPathFactory,
    deliveries: int,
    first: int,
    born: str,
    stored: str,
    properties: dict[str, str],
) -> None:
    record = record_of(tmp_path_factory, Message("orders", b"body", properties), born, stored)

    copy = as_delivered(record, deliveries, first)

    before, after = decode_one(record), decode_one(copy)
    changed = {"1ST_POP_TIME": str(first)} if first else {}
    assert after.reconsume_times == 2 + deliveries
    assert after.properties == before.properties | changed
    assert (after.body, after.born_host, after.store_host) == (before.body, before.born_host, before.store_host)
    assert body_is_sound(copy, read_head(copy))
    assert offset_of(copy) == before.queue_offset


def test_properties_that_are_as_long_as_may_be_stay_as_they_are(tmp_path_factory: pytest.TempPathFactory) -> None:
    message = Message("orders", b"body", {"a": "x" * 32_750})
    record = record_of(tmp_path_factory, message, "10.0.0.9", "10.0.0.5")

    after = decode_one(as_delivered(record, 1, 1_700_000_000_000))

    assert (after.reconsume_times, after.properties) == (3, message.properties)
