"""The answer that is written from records equals that of decoded messages, byte for byte, or is left to it."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.client.consumer.leases import LeasedRecords
from broker_core.native import native
from broker_core.protocol import record
from broker_core.protocol.headers.pop import PopMessageResponse
from broker_core.protocol.record import MessageOrigin
from gateway.auth import Principal
from gateway.data import leased_json, leases
from gateway.data.bodies import is_json
from gateway.data.leased_json import write_leased
from gateway.data.leases import LeaseHolder, lease_out
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Receipts, derive_key
from gateway.limits import GatewayLimits, LeasesOut

pytestmark = pytest.mark.skipif(native is None, reason="the compiled functions are not built")

HOLDER = LeaseHolder.of("local", "billing", 'ord"ers', Principal(1, "ada", "admin", token_id=7), "127.0.0.1")
NOW = 1_790_000_000_000
HOSTS = bytes([127, 0, 0, 1, 0, 0, 42, 159]), bytes([10, 1, 2, 3, 0, 0, 42, 160])

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\1\2"), min_size=1, max_size=12)
NAMES = st.sampled_from(["KEYS", "TAGS", "UNIQ_KEY", "CONTENT_TYPE", "__SHARDINGKEY", "CLUSTER", "a", 'b"\\']) | TEXT
VALUES = st.sampled_from(["application/json", "text/plain", "k1 k2  k3", " ", "0A00000100002A9F"]) | TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=9,
)
ALMOST_JSON = st.lists(
    st.sampled_from([*'{}[],:"\\ue019.-+E ', "true", "nul", '"a"', "\\u00e9", "\\ud800", "é", "\0", "\x1f"])
).map(lambda pieces: "".join(pieces).encode())
BODIES = st.one_of(JSON.map(msgspec.json.encode), ALMOST_JSON, st.binary(max_size=20), TEXT.map(str.encode))
MESSAGES = st.tuples(st.lists(st.tuples(NAMES, VALUES), max_size=7), BODIES, st.integers(0, 253_402_300_799_999))


class _Parts:
    """What `lease_out` uses of the parts."""

    def __init__(self) -> None:
        self.receipts = Receipts(derive_key("secret"))
        self.leases = LeasesOut(GatewayLimits())
        self.counted: list[Any] = []
        self.consumers = self

    def clock(self) -> float:
        return 0.0

    def leased(self, *counted: Any) -> None:
        self.counted.append(counted)


def _record(place: int, pairs: list[tuple[str, str]], body: bytes, born: int, **others: Any) -> bytes:
    topic = record.encode_topic(others.pop("topic", HOLDER.topic))
    text = "\2".join(f"{name}\1{value}" for name, value in pairs).encode()
    origin = MessageOrigin(born, HOSTS[0], born // 2, HOSTS[1], others.pop("reconsume_times", 0))
    size = record.size_of(topic, body, text, origin)
    return record.encode(topic, body, text, origin, size, place % 2, 40 + place // 2, 1000 * place, **others)


def _answer(*records: bytes) -> LeasedRecords:
    """Return an answer with messages of queues 0 and 1 in turn, sorted by queue as brokers do."""
    queues = [records[0::2], records[1::2]]
    offsets = [",".join(str(40 + place) for place in range(len(queue))) for queue in queues]
    info = ";".join(f"0 {number} {text}" for number, text in enumerate(offsets) if text)
    starts = ";".join(f"0 {number} 38" for number, text in enumerate(offsets) if text)
    header = PopMessageResponse(NOW, 30_000, 0, 0, starts, info)
    return LeasedRecords("billing", HOLDER.topic, "broker é", header, b"".join(queues[0] + queues[1]))


@pytest.fixture(autouse=True, scope="module")
def _clock() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for module in (leases, leased_json):
            patch.setattr(module, "now_ms", lambda: NOW)
        yield


def _written(answer: LeasedRecords) -> tuple[bytes | None, bytes]:
    """Return what is written from the records, and what the messages give; both must count the same leases."""
    usual, plain = _Parts(), _Parts()
    written = write_leased(cast(DataPlaneParts, usual), HOLDER, answer)
    messages = lease_out(cast(DataPlaneParts, plain), HOLDER, answer.messages(), "auto", {})
    if written is None:
        assert usual.counted == []
        return None, b""
    assert written[1] == len(messages) == usual.leases.total(0)
    assert usual.counted == plain.counted
    return written[0], b",".join(map(msgspec.json.encode, messages))


@given(st.lists(MESSAGES, min_size=1, max_size=5))
@example([([("a", "1"), ("a", "2")], b"x", 0)])
@example([([("a", ""), ("", "b"), ("c\1d", "\1")], b'\0\x7f"\\/\b\f\n\r\t\x1f', 951_782_400_000)])
@example([([], b" [1, 2.5e+3] ", 253_402_300_799_999), ([], b"{", 1), ([], b"\xff\xfe", 2)])
def test_what_is_written_from_records_is_what_messages_give(
    messages: list[tuple[list[tuple[str, str]], bytes, int]],
) -> None:
    ours, theirs = _written(_answer(*(_record(place, *each) for place, each in enumerate(messages))))
    assert ours is None or ours == theirs


@given(ALMOST_JSON | JSON.map(msgspec.json.encode))
def test_a_body_that_is_written_as_json_is_json(body: bytes) -> None:
    ours, _ = _written(_answer(_record(0, [("CONTENT_TYPE", "application/json")], body, NOW)))
    assert ours is None or is_json(body)


def test_usual_messages_are_not_left_to_python() -> None:
    pairs = [("KEYS", "A17 é"), ("UNIQ_KEY", "0A01"), ("colour", "grün"), ("TAGS", "t")]
    json = [*pairs, ("CONTENT_TYPE", "application/json")]
    bodies = [b"plain", "蛇".encode(), bytes(range(200, 256)), b"", b"[]"]
    records = [_record(0, json, b'{"id": "A17", "x": [1, -2.5e3, true, null, {}]}', NOW)]
    records += [_record(place, pairs[place - 2 :], body, NOW) for place, body in enumerate(bodies, start=1)]

    ours, theirs = _written(_answer(*records))

    assert ours is not None
    assert ours == theirs


@pytest.mark.parametrize(
    "odd",
    [
        {"reconsume_times": 1},
        {"sys_flag": 1},
        {"topic": "%RETRY%billing"},
    ],
)
def test_unusual_messages_are_left_to_python(odd: dict[str, Any]) -> None:
    answer = _answer(_record(0, [], b"x", NOW), _record(1, [], b"x", NOW, **odd))
    assert write_leased(cast(DataPlaneParts, _Parts()), HOLDER, answer) is None


def test_an_answer_whose_header_tells_something_else_is_left_to_python() -> None:
    sound = _answer(_record(0, [], b"x", NOW))
    for info in ("0 0 41", "0 1 40", "1 0 40", "0 0 40,41", "", None):
        header = PopMessageResponse(NOW, 30_000, 0, 0, "0 0 38", info)
        answer = LeasedRecords(sound.group, sound.topic, sound.broker_name, header, sound.records)
        assert write_leased(cast(DataPlaneParts, _Parts()), HOLDER, answer) is None
