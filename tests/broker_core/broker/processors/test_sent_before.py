"""A forwarded send that its client has sent again is not stored a second time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker import Broker
from broker_core.broker.access.forwarded import CLIENT
from broker_core.clock import now_ms
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties
from broker_core.protocol.sys_flag import TRANSACTION_PREPARED
from tests.broker_core.broker.replication.switching import unconfirmed
from tests.support.broker import TIMEOUT_MS
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

PLAIN: Mapping[str, str] = {}
HALF = {"TRAN_MSG": "true", "PGROUP": "producers"}


def send(unique_id: str, born: int, pairs: Mapping[str, str] = PLAIN, *, forwarded: bool = False) -> Command:
    flag = TRANSACTION_PREPARED if "TRAN_MSG" in pairs else 0
    text = format_properties({"UNIQ_KEY": unique_id, **pairs})
    header = SendMessageV2Request("T", 0, flag, born, 0, "producers", "TBW102", 4, properties=text)
    request = Command.request(header, b"x")
    if forwarded:
        request.ext_fields[CLIENT] = "10.1.2.3:4"
    return request


def repeated(request: Command) -> Command:
    request.ext_fields["gantryRepeated"] = "true"
    return request


async def ask(group: ReplicaGroup, master: Broker, request: Command) -> SendMessageResponse:
    answer = await group.client.invoke(master.address, request, TIMEOUT_MS)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return answer.header(SendMessageResponse)


@pytest.mark.parametrize("pairs", [PLAIN, HALF, {"DELAY": "3"}, {"TIMER_DELAY_SEC": "60"}])
async def test_a_late_copy_is_answered_with_the_place_of_the_later_try(tmp_path: Path, pairs: dict[str, str]) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        stored = await ask(group, master, send("ID1", born, pairs))
        end = master.store.appended_log_offset

        again = await ask(group, master, send("ID1", born - 3000, pairs, forwarded=True))

        assert (again.msg_id, again.queue_id, again.queue_offset) == (stored.msg_id, stored.queue_id, 0)
        assert again.recall_handle == stored.recall_handle
        assert master.store.appended_log_offset == end


@pytest.mark.parametrize("pairs", [PLAIN, {"DELAY": "3"}, {"TIMER_DELAY_SEC": "60"}])
async def test_a_repetition_is_answered_with_the_place_of_the_first_try(tmp_path: Path, pairs: dict[str, str]) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        stored = await ask(group, master, send("ID1", born, pairs))
        end = master.store.appended_log_offset

        again = await ask(group, master, repeated(send("ID1", born, pairs)))

        assert (again.msg_id, again.queue_id, again.queue_offset) == (stored.msg_id, stored.queue_id, 0)
        assert (again.recall_handle, master.store.appended_log_offset) == (stored.recall_handle, end)


async def test_what_is_no_repetition_of_what_is_stored_is_stored(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        for unique_id in ("ID1", "ID2"):  # what comes often in one form gets a way of its own
            await ask(group, master, repeated(send(unique_id, born)))
        await ask(group, master, repeated(send("ID1", born + 1)))

        assert (await ask(group, master, repeated(send("ID2", born)))).queue_offset == 1
        assert (await ask(group, master, send("ID2", born))).queue_offset == 3


async def test_a_batch_that_is_repeated_is_stored_once(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        stored = await ask(group, master, batch(born, "ID1", "ID2"))

        again = await ask(group, master, repeated(batch(born, "ID1", "ID2")))

        assert (again.msg_id, again.queue_offset) == (stored.msg_id, stored.queue_offset)


async def test_a_later_try_is_not_stored_behind_one_that_was_late(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, now = await group.master(), now_ms()
        stored = await ask(group, master, send("ID1", now - 5000, forwarded=True))

        again = await ask(group, master, send("ID1", now - 2000, forwarded=True))

        assert again.msg_id == stored.msg_id


async def test_what_is_sent_again_on_purpose_is_stored_again(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        stored = await ask(group, master, send("ID1", now_ms() - 10, forwarded=True))

        again = await ask(group, master, send("ID1", now_ms(), forwarded=True))

        assert (stored.queue_offset, again.queue_offset) == (0, 1)


async def test_what_its_client_sends_itself_is_not_looked_for(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        await ask(group, master, send("ID1", born))

        assert (await ask(group, master, send("ID1", born - 3000))).queue_offset == 1


async def test_what_is_not_confirmed_yet_is_found_too(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        await ask(group, master, send("ID0", born))
        with unconfirmed(master):
            await group.client.one_way(master.address, send("ID1", born))
            await eventually(lambda: len(master.store.undispatched("T", "ID1")) == 1)
            end = master.store.appended_log_offset
            await group.client.one_way(master.address, send("ID1", born - 3000, forwarded=True))
            await group.client.one_way(master.address, send("ID2", born - 3000, forwarded=True))
            await eventually(lambda: len(master.store.undispatched("T", "ID2")) == 1)
            assert len(master.store.undispatched("T", "ID1")) == 1
            assert master.store.appended_log_offset > end


def batch(born: int, *unique_ids: str, **fields: Any) -> Command:
    header = SendMessageV2Request("T", 0, 0, born, 0, "producers", "TBW102", 4, properties="", batch=True)
    body = encode_batch([Message("T", b"x", {"UNIQ_KEY": each}) for each in unique_ids])
    request = Command.request(header, body, code=RequestCode.SEND_BATCH_MESSAGE)
    request.ext_fields.update(fields)
    return request


async def test_a_batch_is_not_stored_again_if_all_of_it_is_there(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, born = await group.master(), now_ms()
        stored = await ask(group, master, batch(born, "ID1", "ID2"))
        forwarded = {CLIENT: "10.1.2.3:4"}

        again = await ask(group, master, batch(born - 3000, "ID1", "ID2", **forwarded))
        other = await ask(group, master, batch(born - 3000, "ID2", "ID3", **forwarded))

        assert (again.msg_id, again.queue_offset) == (stored.msg_id, 0)
        assert other.queue_offset == 2
