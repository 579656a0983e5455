"""Requirements of `gateway.control.group_offsets`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.control.conftest import Control


def call(control: Control, action: str, body: dict[str, Any], *, role: str = "operator", status: int = 200) -> Any:
    answer = control.call("POST", f"/groups/offsets:{action}", role=role, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["items"]


def offset(control: Control, group: str) -> int | None:
    [queue] = control.get(f"/groups/{group}")["queues"]
    at: int | None = queue["group_offset"]
    return at


def test_groups_are_moved_by_one_preview_and_go_back_by_one_undo(control: Control) -> None:
    # Given two groups at different places, one that is at the beginning, and one that is not there
    topic, first, second, there = control.topic(), control.group(), control.group(), control.group()
    control.produce(topic, *"abcde")
    control.consume(first, topic, 3)
    control.consume(second, topic, 1)
    control.consume(there, topic, 1)
    names = [first, second, "nobody-made-this", "TOOLS_CONSUMER"]
    # When all are to begin again
    rows = call(control, "preview", {"groups": names, "mode": "earliest"})
    # Then the preview says what comes again, refuses the others by name, and moves nobody
    assert [row["outcome"] for row in rows] == ["planned", "planned", "refused", "refused"]
    figures = [(row["topic"], row["lag"], row["new_lag"], row["to_replay"], row["skipped"]) for row in rows[:2]]
    assert figures == [(topic, 2, 5, 3, 0), (topic, 4, 5, 1, 0)]
    assert (offset(control, first), offset(control, second)) == (3, 1)
    # And each plan has its outcome when they are applied, whatever becomes of the others
    plans = [{"group": row["group"], "plan_id": row["plan_id"]} for row in rows[:2]]
    made = call(control, "apply", {"plans": [*plans, {"group": there, "plan_id": plans[0]["plan_id"]}]}, status=207)
    assert [row["outcome"] for row in made] == ["done", "done", "failed"]
    assert (offset(control, first), offset(control, second), offset(control, there)) == (0, 0, 1)
    assert [row["outcome"] for row in call(control, "preview", {"groups": [first], "mode": "earliest"})] == [
        "unchanged"
    ]
    # And all go back to where each of them was, once
    kept = [{"group": row["group"], "snapshot_id": row["snapshot_id"]} for row in made[:2]]
    assert [row["outcome"] for row in call(control, "undo", {"snapshots": kept})] == ["done", "done"]
    assert (offset(control, first), offset(control, second)) == (3, 1)
    again = call(control, "undo", {"snapshots": kept}, status=207)
    assert {row["reason"] for row in again} == {"This change was already undone."}


def test_only_the_topics_that_are_named_are_moved(control: Control) -> None:
    one, other, group = control.topic(), control.topic(), control.group()
    for topic in (one, other):
        control.produce(topic, *"abc")
        control.consume(group, topic, 1)
    wanted = {"groups": [group], "mode": "shift", "shift": 1}
    assert {row["topic"] for row in call(control, "preview", wanted)} == {one, other}
    rows = call(control, "preview", {**wanted, "topics": [one, "nothing"]})
    assert [(row["topic"], row["outcome"], row["skipped"]) for row in rows] == [
        (one, "planned", 1),
        ("nothing", "refused", None),
    ]


def test_a_group_that_the_caller_may_not_move_is_refused_as_one_that_is_not_there(control: Control) -> None:
    hidden = control.group("payments")
    rows = call(control, "preview", {"groups": [hidden, "payments-nothing"], "mode": "latest"}, role="oncall")
    reasons = [row["reason"].replace(row["group"], "") for row in rows]
    assert {row["outcome"] for row in rows} == {"refused"}
    assert reasons[0] == reasons[1]
    for action, body in (("apply", {"plans": [{"plan_id": "x"}]}), ("undo", {"snapshots": [{"snapshot_id": "x"}]})):
        [[each]] = body.values()
        each["group"] = hidden
        [row] = call(control, action, body, role="oncall", status=207)
        assert (row["outcome"], row["topic"]) == ("refused", None)


@pytest.mark.sample
def test_a_change_in_a_topic_that_one_may_not_read_is_neither_made_nor_undone(control: Control) -> None:
    # Given a group that the caller may move, in a topic that it may read and in one that it may not
    group, seen, hidden = control.group("orders"), control.topic("orders"), control.topic("payments")
    path = f"/groups/{group}/offsets"
    for topic in (seen, hidden):
        control.produce(topic, *"abc")
        control.consume(group, topic, 1)
    plans = {
        topic: control.call("POST", f"{path}:preview", json={"topic": topic, "mode": "latest"}).json()["plan_id"]
        for topic in (seen, hidden)
    }

    def refuses(action: str, what: str, key: str) -> None:
        """Try it alone and among many: a hidden one is answered like one that does not exist."""
        told = []
        for each in (key, "0" * len(key)):
            alone = control.call("POST", f"{path}:{action}", json={f"{what}_id": each}, role="oncall")
            assert alone.status_code == 404, alone.text
            many = {f"{what}s": [{"group": group, f"{what}_id": each}]}
            [row] = call(control, action, many, role="oncall", status=207)
            assert (row["outcome"], row["topic"]) == ("failed", None)
            told.append([text.replace(each, "") for text in (alone.json()["detail"], row["reason"])])
        assert told[0] == told[1]

    # Then it does nothing with the plan of the other topic, nor with the change once somebody made it
    refuses("apply", "plan", plans[hidden])
    made = control.call("POST", f"{path}:apply", json={"plan_id": plans[hidden]})
    assert made.status_code == 200, made.text
    refuses("undo", "snapshot", made.json()["snapshot_id"])
    offsets = {row["topic"]: row["group_offset"] for row in control.get(f"/groups/{group}")["queues"]}
    assert (offsets[seen], offsets[hidden]) == (1, 3)
    # And what it may read it moves there and back
    done = control.call("POST", f"{path}:apply", json={"plan_id": plans[seen]}, role="oncall")
    assert (done.status_code, done.json()["topic"]) == (200, seen)
    back = control.call("POST", f"{path}:undo", json={"snapshot_id": done.json()["snapshot_id"]}, role="oncall")
    assert back.status_code == 200


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"groups": [], "mode": "latest"}, "#/groups"),
        ({"groups": [f"g{n}" for n in range(51)], "mode": "latest"}, "#/groups"),
        ({"groups": ["a"], "mode": "time"}, "#/time"),
        ({"groups": ["a"], "mode": "latest", "shift": 1}, "#/shift"),
        ({"groups": ["a"], "mode": "copy_from"}, "#/mode"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_by_name(control: Control, wish: dict[str, Any], pointer: str) -> None:
    answer = control.call("POST", "/groups/offsets:preview", json=wish)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
