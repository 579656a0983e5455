"""What the control plane answers while the master of a broker is away and a slave is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest

from tests.gateway.control.conftest import Control
from tests.support.gantry import ROOT
from tests.support.orphaned import CAUSE, GROUP, KEY, NAME, TOPIC, TRACES, Orphaned, orphaned_slave

Call = Callable[..., httpx.Response]
OF_SLAVE: Final = {"broker": NAME, "broker_id": 1, "reason": f"no master of broker '{NAME}' is known"}
MESSAGES: Final = f"/topics/{TOPIC}/messages"
PLACE: Final = f"/topics/{TOPIC}/queues/0/messages"


@pytest.fixture(scope="module")
def orphaned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orphaned]:
    with orphaned_slave(tmp_path_factory.mktemp("orphaned")) as orphaned:
        yield orphaned


@pytest.fixture
def call(control: Control, orphaned: Orphaned, documented: None) -> Iterator[Call]:
    """Send requests of the admin to the cluster whose only broker has no master."""
    if control.is_apache:
        pytest.skip("the broker is one of the test's own")
    admin, name = control.as_("admin"), control.name("orphaned")
    made = admin.post("/api/v1/clusters", json={"name": name, "name_servers": [orphaned.name_server]})
    assert made.status_code == 201, made.text

    def call(method: str, path: str, **options: Any) -> httpx.Response:
        return admin.request(method, f"/api/v1/clusters/{name}{path}", **options)

    yield call
    admin.delete(f"/api/v1/clusters/{name}", headers={"If-Match": "*"})


def offsets_of(items: list[dict[str, Any]]) -> list[int]:
    return [each["queue_offset"] for each in items]


def test_messages_are_found_at_the_slave_and_the_answer_names_it(call: Call, orphaned: Orphaned) -> None:
    searched = call("GET", "/messages:search", params={"topic": TOPIC, "key": KEY}).json()
    browsed = call("GET", MESSAGES).json()
    filtered = call("GET", MESSAGES, params={"sql": "KEYS = 'A17'"}).json()
    scanned = call("POST", f"{MESSAGES}:scan", json={"key": KEY}).json()
    looked_up = call("POST", "/messages:search", json={"topic": TOPIC, "keys": [KEY, "none"]}).json()

    answers = (searched, browsed, filtered, scanned, looked_up)
    assert [each["from_slaves"] for each in answers] == [[OF_SLAVE]] * 5
    assert [offsets_of(each["items"]) for each in answers[:4]] == [[2, 1, 0]] * 4
    (found,) = looked_up["found"]
    assert (found["key"], offsets_of(found["items"])) == (KEY, [2, 1, 0])


def test_nothing_that_a_slave_says_is_called_complete(call: Call) -> None:
    searched = call("GET", "/messages:search", params={"topic": TOPIC, "key": "none"}).json()
    scanned = call("POST", f"{MESSAGES}:scan", json={"key": "none"}).json()
    looked_up = call("POST", "/messages:search", json={"topic": TOPIC, "keys": ["none"]}).json()

    assert (searched["verdict"], searched["complete"], searched["missing"]) == ("partial", False, [])
    assert (scanned["end"], scanned["complete"]) == ("end", False)
    assert (looked_up["verdict"], looked_up["missing"]) == ("partial", [])
    (unsure,) = looked_up["partial"]
    assert unsure["reason"] == f"slave 1 of {NAME} may lack the newest messages"


def test_traces_are_found_at_the_slave_and_are_not_called_all(call: Call, orphaned: Orphaned) -> None:
    traced, other = (
        call("GET", f"/messages/{sent.message_id}/trace", params={"topic": TOPIC, "trace_topic": TRACES}).json()
        for sent in orphaned.sent[:2]
    )

    assert [each["group"] for each in traced["consumed"]] == [GROUP]
    assert (traced["state"], traced["complete"], traced["missing"]) == ("traced", False, [])
    assert (other["state"], other["complete"]) == ("unknown", False)
    assert [each["from_slaves"] for each in (traced, other)] == [[OF_SLAVE]] * 2


def test_dead_letters_are_read_from_the_slave_and_not_counted(call: Call) -> None:
    letters = call("GET", f"/dead-letters/{GROUP}/messages").json()
    filtered = call("GET", f"/dead-letters/{GROUP}/messages", params={"cause": CAUSE}).json()
    causes = call("GET", f"/dead-letters/{GROUP}/causes").json()
    line = call("GET", f"/dead-letters/{GROUP}").json()

    answers = (letters, filtered, causes, line)
    assert [each["from_slaves"] for each in answers] == [[OF_SLAVE]] * 4
    assert [offsets_of(each["items"]) for each in (letters, filtered)] == [[1, 0]] * 2
    assert [each["stored"] for each in (letters, causes)] == [None, None]
    assert [each["missing"] for each in (letters, causes)] == [[], []]
    assert ([(each["reason"], each["count"]) for each in causes["items"]], causes["complete"]) == ([(CAUSE, 2)], False)
    assert (line["messages"], line["top_cause"]["reason"], line["topics"]) == (None, CAUSE, [TOPIC])


def test_one_message_is_shown_by_its_ids_and_by_its_place(call: Call, orphaned: Orphaned) -> None:
    second = orphaned.sent[1]
    by_id, by_place = (
        call("GET", f"/messages/{name}", params={"topic": TOPIC}).json()
        for name in (second.message_id, second.offset_id)
    )
    page = call("GET", PLACE, params={"offset": 1, "bodies": True}).json()

    assert by_id == by_place
    assert (by_id["queue_offset"], by_id["body"]["data"], by_id["from_slave"]) == (1, "1", OF_SLAVE)
    assert ([each["body"]["data"] for each in page["items"]], page["from_slave"]) == (["1", "2"], OF_SLAVE)
    assert (page["min_offset"], page["max_offset"], page["next_offset"]) == (0, 3, 3)


def test_what_the_slave_lacks_and_what_only_a_master_does_is_a_problem(call: Call) -> None:
    answers = (
        call("GET", "/messages/7F0000010000000000000000DEADBEEF", params={"topic": TOPIC}),
        call("POST", MESSAGES, json={"body": {"encoding": "text", "data": "late"}, "options": {"timeout_ms": 500}}),
        call("PATCH", f"/topics/{TOPIC}", json={"read_queues": 2}, headers={"If-Match": "*"}),
    )

    assert [(each.status_code, each.json()["code"]) for each in answers] == [(503, "BROKER_UNREACHABLE")] * 3


def test_the_page_says_what_a_slave_answers() -> None:
    page = (ROOT / "docs/http-api.md").read_text(encoding="utf-8")

    assert "a slave of the same name is read, and `from_slaves`" in page
