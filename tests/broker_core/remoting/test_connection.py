"""One connection: pipelining, order, backpressure, idle time."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.protocol import Command, ResponseCode
from broker_core.protocol.frame import Frame
from broker_core.remoting import Connection, ConnectionClosed, ConnectionLimits, Overloaded, RemotingTimeout
from tests.support.remoting import (
    RawPeer,
    address_of,
    calling,
    dispatch_of,
    echo,
    question,
    raw_peer,
    raw_server,
    serving,
)
from tests.support.wait import eventually

KIB = 1024


async def test_many_requests_in_one_write_are_answered_in_one_go() -> None:
    async with serving() as server, raw_peer(server) as peer:
        peer.send(*[question(f"T{n}", b"x" * n) for n in range(200)])
        answers = [await peer.command() for _ in range(200)]
    assert [(each.opaque, each.remark, len(each.body)) for each in answers] == [(n, f"T{n}", n) for n in range(200)]
    assert all(each.is_response and each.version >= 409 for each in answers)


async def test_a_request_that_takes_long_holds_up_no_other() -> None:
    ready = asyncio.Event()

    async def wait_if_asked(request: Command, connection: Connection) -> Command:
        if request.ext_fields["topic"] == "slow":
            await ready.wait()
        return echo(request, connection)

    async with serving(wait_if_asked) as server, raw_peer(server) as peer:
        peer.send(question("slow"), question("quick"))
        assert (await peer.command()).remark == "quick"
        ready.set()
        assert (await peer.command()).opaque == 0


async def test_an_answer_may_come_later_from_anywhere() -> None:
    parked: list[tuple[Command, Connection]] = []
    async with serving(lambda *pair: parked.append(pair)) as server, calling() as client:
        call = asyncio.ensure_future(client.invoke(address_of(server), question("T"), 5000))
        await eventually(lambda: parked)
        request, connection = parked.pop()
        connection.answer(request, Command.response(ResponseCode.PULL_NOT_FOUND))
        assert (await call).code == ResponseCode.PULL_NOT_FOUND


async def test_a_future_is_as_good_as_a_coroutine() -> None:
    promised: list[asyncio.Future[Command | None]] = []

    def promise(request: Command, connection: Connection) -> asyncio.Future[Command | None]:
        promised.append(asyncio.get_running_loop().create_future())
        return promised[-1]

    async with serving(promise) as server, raw_peer(server) as peer:
        peer.send(question(), question())
        await eventually(lambda: len(promised) == 2)
        promised[1].set_result(Command.response(7))
        promised[0].set_exception(RuntimeError("broken"))
        assert [((await peer.command()).opaque) for _ in range(2)] == [1, 0]


async def test_a_one_way_request_is_never_answered() -> None:
    seen: list[Command] = []

    def note(request: Command, connection: Connection) -> Command:
        seen.append(request)
        return echo(request, connection)

    async with serving(note) as server, raw_peer(server) as peer:
        first = question("one way")
        first.flag = 2
        peer.send(first, question("two way"))
        assert (await peer.command()).remark == "two way"
    assert [each.ext_fields["topic"] for each in seen] == ["one way", "two way"]


async def test_a_lane_takes_what_it_can_and_leaves_the_rest_to_the_handler() -> None:
    class OfPairs:
        """Answers two requests at once, unless the first one begins a turn."""

        def __init__(self, connection: Connection) -> None:
            self.connection = connection

        def take(self, frames: list[Frame], at: int) -> int:
            two = [Command.decode(frame) for frame in frames[at : at + 2]]
            if at == 0 or len(two) < 2:
                return 0
            answers = [Command.response(0, remark="in the lane").answering(each).encode() for each in two]
            self.connection.answer_many(b"".join(answers), 2)
            return 2

    def begin(request: Command, connection: Connection) -> Command:
        connection.lane = OfPairs(connection)
        return echo(request, connection)

    async with serving(begin) as server, raw_peer(server) as peer:
        peer.send(*[question(f"T{n}") for n in range(6)])
        answers = [await peer.command() for _ in range(6)]
    assert [each.opaque for each in answers] == list(range(6))
    assert [each.remark for each in answers] == ["T0", *["in the lane"] * 4, "T5"]


async def test_a_response_without_a_waiting_call_is_dropped() -> None:
    async with serving() as server, raw_peer(server) as peer:
        peer.send(Command.response(0), question())
        assert (await peer.command()).opaque == 1


async def test_the_answer_has_the_header_form_of_the_request() -> None:
    async with serving() as server, raw_peer(server) as peer:
        binary = question("b")
        binary.serializer = 1
        peer.send(binary, question("j"))
        assert [(await peer.command()).serializer for _ in range(2)] == [1, 0]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff\x00\x00\x00\x00",
        b"\x00\x00\x00\x03\x00\x00\x00\x00",
        b"\x00\x00\x00\x0a\x00\x00\x00\x63",
        b"\x00\x00\x00\x0a\x05\x00\x00\x02{}",
        b"\x00\x00\x00\x06\x00\x00\x00\x02[]",
    ],
)
async def test_malformed_input_closes_the_connection_without_a_word(data: bytes) -> None:
    async with serving() as server, raw_peer(server) as peer:
        peer.writer.write(data)
        assert await peer.is_closed_by_peer()
        await eventually(lambda: not list(server.connections))


async def test_requests_before_a_malformed_frame_are_still_answered() -> None:
    async with serving() as server, raw_peer(server) as peer:
        peer.writer.write(question("good").encode() + b"\xff\xff\xff\xff\x00\x00\x00\x00")
        assert (await peer.command()).remark == "good"
        assert await peer.is_closed_by_peer()


async def test_requests_before_a_malformed_frame_are_answered_when_they_have_ended() -> None:
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(request: Command, connection: Connection) -> Command:
        await ended
        return Command.response(0, remark="good")

    async with serving(wait) as server, raw_peer(server) as peer:
        peer.writer.write(question().encode() + b"\xff\xff\xff\xff\x00\x00\x00\x00")
        await eventually(lambda: any(each._is_deaf for each in server.connections))
        ended.set_result(None)
        assert (await peer.command()).remark == "good"
        assert await peer.is_closed_by_peer()


async def test_a_peer_that_reads_nothing_is_no_longer_read() -> None:
    limits = ConnectionLimits(write_buffer_bytes=64 * KIB)
    served = 0

    def answer_much(request: Command, connection: Connection) -> Command:
        nonlocal served
        served += 1
        return Command.response(0, body=bytes(256 * KIB))

    async with serving(answer_much, limits=limits) as server, raw_peer(server) as peer:
        # Given a peer that requests far more than the buffers hold, and reads nothing
        peer.stop_reading()
        peer.send(*[question() for _ in range(400)])
        await eventually(lambda: served > 0)
        [connection] = server.connections
        await eventually(lambda: connection._outbox.is_full)
        stuck_at = served
        # Then most of its requests are not started
        assert stuck_at < 300
        # When it reads, it gets them all
        peer.read_again()
        answers = [await peer.command() for _ in range(400)]
    assert [each.opaque for each in answers] == list(range(400))
    assert served == 400


async def test_a_peer_that_never_reads_what_is_pushed_is_closed() -> None:
    limits = ConnectionLimits(write_buffer_bytes=KIB, unread_bytes=256 * KIB)
    async with serving(limits=limits) as server, raw_peer(server) as peer:
        peer.stop_reading()
        peer.send(question())
        await eventually(lambda: list(server.connections))
        [connection] = server.connections

        def push_until_closed() -> bool:
            if not connection.is_closing:
                connection.send(question("push", bytes(512 * KIB)))
            return connection.is_closing

        await eventually(push_until_closed)
        await connection.closed()
        assert f"limit unread_bytes={256 * KIB} reached" in connection.close_reason


async def test_more_unanswered_requests_than_the_limit_are_answered_busy() -> None:
    ready = asyncio.Event()

    async def wait(request: Command, connection: Connection) -> Command:
        await ready.wait()
        return echo(request, connection)

    async with serving(wait, limits=ConnectionLimits(unanswered_requests=2)) as server, raw_peer(server) as peer:
        peer.send(*[question() for _ in range(4)])
        busy = [await peer.command() for _ in range(2)]
        assert [(each.opaque, each.code) for each in busy] == [(2, 2), (3, 2)]
        assert "[OVERLOAD]" in (busy[0].remark or "")
        ready.set()
        assert sorted([(await peer.command()).opaque for _ in range(2)]) == [0, 1]


async def test_an_idle_connection_is_closed_and_a_busy_one_is_not() -> None:
    limits = ConnectionLimits(idle_seconds=0.3)
    async with serving(limits=limits) as server, raw_peer(server) as idle, raw_peer(server) as busy:
        await eventually(lambda: len(list(server.connections)) == 2)

        async def is_alone() -> bool:
            busy.send(question())
            await busy.command()
            return len(list(server.connections)) == 1

        await eventually(is_alone)
        assert await idle.is_closed_by_peer()
        assert await busy.is_closed_by_peer()


async def test_close_callbacks_run_once_and_late_ones_at_once() -> None:
    called: list[str] = []
    async with serving() as server, calling() as client:
        connection = await client.connection(address_of(server))
        connection.on_close(lambda _: called.append("first"))
        connection.on_close(lambda _: 1 // 0)  # type: ignore[arg-type]
        connection.on_close(lambda _: called.append("second"))
        connection.close()
        connection.close()
        await connection.closed()
        connection.on_close(lambda _: called.append("late"))
    assert called == ["first", "second", "late"]


async def test_a_call_times_out_at_its_own_time_whatever_others_wait_for() -> None:
    async with serving(lambda request, connection: None) as server, calling() as client:
        connection = await client.connection(address_of(server))
        started = asyncio.get_running_loop().time()
        calls = [asyncio.ensure_future(connection.invoke(question(), ms)) for ms in (60_000, 100, 200, 100)]
        with pytest.raises(RemotingTimeout, match="within 100 ms"):
            await calls[1]
        with pytest.raises(RemotingTimeout):
            await calls[3]
        with pytest.raises(RemotingTimeout):
            await calls[2]
        assert asyncio.get_running_loop().time() - started < 10
        assert not calls[0].done()
        calls[0].cancel()
        await asyncio.wait([calls[0]])
        assert connection.pending_calls == 0


async def test_an_answer_after_the_timeout_is_dropped() -> None:
    parked: list[tuple[Command, Connection]] = []
    async with serving(lambda *pair: parked.append(pair)) as server, calling() as client:
        with pytest.raises(RemotingTimeout):
            await client.invoke(address_of(server), question("late"), 50)
        await eventually(lambda: parked)
        request, connection = parked.pop()
        connection.answer(request, Command.response(0))
        call = asyncio.ensure_future(client.invoke(address_of(server), question("next"), 5000))
        await eventually(lambda: parked)
        parked[0][1].answer(parked[0][0], Command.response(9))
        assert (await call).code == 9


async def test_calls_under_way_fail_when_the_connection_closes() -> None:
    async def hang_up(peer: RawPeer) -> None:
        await peer.command()
        peer.writer.transport.abort()

    async with raw_server(hang_up) as address, calling() as client:
        calls = [client.invoke(address, question(), 5000) for _ in range(3)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(each) for each in results] == [ConnectionClosed] * 3


async def test_too_many_calls_of_ours_are_refused() -> None:
    async with (
        serving(lambda request, connection: None) as server,
        calling(limits=ConnectionLimits(calls_per_connection=1)) as client,
    ):
        first = asyncio.ensure_future(client.invoke(address_of(server), question(), 5000))
        connection = await client.connection(address_of(server))
        await eventually(lambda: connection.pending_calls == 1)
        with pytest.raises(Overloaded, match="limit calls_per_connection=1 reached"):
            await client.invoke(address_of(server), question(), 5000)
        first.cancel()


async def test_calls_wait_for_room_and_that_counts_as_their_time() -> None:
    async with (
        raw_server(lambda peer: None) as address,
        calling(limits=ConnectionLimits(write_buffer_bytes=KIB)) as client,
    ):
        # Given a server that reads nothing, and a full buffer
        connection = await client.connection(address)
        for _ in range(32):
            connection.send(question("push", bytes(512 * KIB)))
        await eventually(lambda: connection._outbox.is_full)
        # Then a call waits, and gives up in time
        with pytest.raises(RemotingTimeout, match="room to write"):
            await connection.invoke(question(), 100)
        connection.abort("enough")


async def test_both_sides_may_ask() -> None:
    async with serving() as server, calling(dispatch_of(echo)) as client:
        await client.connection(address_of(server))
        await eventually(lambda: list(server.connections))
        [connection] = server.connections
        answer = await connection.invoke(question("of the server"), 5000)
        assert answer.remark == "of the server"


async def test_a_client_without_handlers_drops_requests() -> None:
    async with serving() as server, calling() as client:
        await client.connection(address_of(server))
        await eventually(lambda: list(server.connections))
        [connection] = server.connections
        with pytest.raises(RemotingTimeout):
            await connection.invoke(question(), 50)


async def test_a_response_that_cannot_be_written_becomes_an_error() -> None:
    def impossible(request: Command, connection: Connection) -> Command:
        if request.ext_fields["topic"] == "large":
            return Command.response(0, body=bytes(17 * KIB * KIB))
        return Command.response(0, remark="half a pair: \ud800")

    async with serving(impossible) as server, raw_peer(server) as peer:
        peer.send(question("large"), question("odd"))
        answers = [await peer.command() for _ in range(2)]
        assert [each.code for each in answers] == [ResponseCode.SYSTEM_ERROR] * 2
        assert "larger than the limit" in (answers[0].remark or "")


async def test_addresses_are_reported() -> None:
    async with serving() as server, calling() as client:
        connection = await client.connection(address_of(server))
        await eventually(lambda: list(server.connections))
        [other] = server.connections
        assert (connection.peer, connection.local) == (other.local, other.peer) == (address_of(server), other.peer)


async def test_nothing_can_be_sent_on_a_closed_connection() -> None:
    async with serving() as server, calling() as client:
        connection = await client.connection(address_of(server))
        connection.close("done")
        with pytest.raises(ConnectionClosed, match="done"):
            connection.send(question())
        with pytest.raises(ConnectionClosed):
            await connection.invoke(question(), 1000)
        connection.answer(question(), Command.response(0))
