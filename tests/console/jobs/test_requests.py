"""The shapes of job requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies.topics import TopicConfig
from console.jobs.bounds import BoundField
from console.jobs.requests import (
    CompareField,
    JobRequestSerializer,
    RangeSerializer,
    ReplaySourceSerializer,
    form,
    topics,
)
from console.jobs.requests.places import check_keys_file


@pytest.mark.parametrize("wanted", ["body", "none", ["body", "tag"], ["keys", "properties"]])
def test_what_is_compared_is_a_word_or_a_list_of_fields(wanted: Any) -> None:
    assert CompareField().run_validation(wanted) == wanted


@pytest.mark.parametrize("wanted", ["luck", ["body", "luck"], 7, ["body"] * 5, []])
def test_a_field_that_cannot_be_compared_is_refused(wanted: Any) -> None:
    with pytest.raises(ValidationError):
        CompareField().run_validation(wanted)


@pytest.mark.parametrize("part", [{"tag": "* || A"}, {"tag": "||"}, {"keys": []}, {"queues": []}, {"queues": [0, 0]}])
def test_a_filter_that_chooses_nothing_or_everything_is_refused(part: dict[str, Any]) -> None:
    asked = ReplaySourceSerializer(data={"topic": "orders", **part})
    assert not asked.is_valid()
    assert list(asked.errors) == list(part)


@pytest.mark.parametrize(
    "part",
    [
        {"tag": "created"},
        {"tag": "A || B"},
        {"tag": "*"},
        {"tag": None},
        {"keys": ["A17"]},
        {"queues": [0]},
        {"keys": None},
    ],
)
def test_a_filter_may_name_something_or_be_left_out(part: dict[str, Any]) -> None:
    assert ReplaySourceSerializer(data={"topic": "orders", **part}).is_valid()


@pytest.mark.parametrize(
    ("content", "why"),
    [("A17\nB2\n", None), ("", "has no key"), (None, "names no file"), ("A 1\n", "line 1 has a space")],
)
def test_a_file_of_keys_is_looked_at_before_a_job_is_queued(
    settings: Any, tmp_path: Path, content: str | None, why: str | None
) -> None:
    settings.GANTRY_JOBS_FILES = tmp_path
    if content is not None:
        (tmp_path / "keys.txt").write_text(content)
    source = {"topic": "orders", "keys_file": "keys.txt"}
    if why is None:
        check_keys_file(source)
        return
    with pytest.raises(ValidationError) as met:
        check_keys_file(source)
    assert why in str(met.value)


@pytest.mark.parametrize("value", [1700000000, "1700000000", "20260501T080000Z", "2026-05-01"])
def test_what_is_no_moment_is_refused_with_one_that_is(value: Any) -> None:
    with pytest.raises(ValidationError, match=r"moment (with a time zone, )?such as 2026-05-01T08:00:00Z"):
        BoundField().run_validation(value)


def test_a_placeholder_needs_a_schedule() -> None:
    """A job without a schedule has no runs that `{{ last_success }}` could refer to."""
    with pytest.raises(ValidationError, match="refers to the runs of a schedule, and this job"):
        BoundField().run_validation("{{ last_success }}")


@pytest.mark.parametrize(
    ("begin", "end", "is_valid"),
    [
        ("{{ scheduled_at }}", "{{ last_success }}", False),
        ("{{ scheduled_at - 24h }}", "{{ last_success }}", True),
        ("{{ last_success }}", "{{ scheduled_at }}", True),
    ],
)
def test_a_range_that_ends_before_it_begins_at_every_run_is_refused(begin: str, end: str, is_valid: bool) -> None:
    asked = RangeSerializer(data={"topic": "orders", "from": begin, "to": end}, context={"is_scheduled": True})
    assert asked.is_valid() is is_valid
    assert ("to" in asked.errors) is not is_valid


@pytest.mark.parametrize(("queues", "is_valid"), [([0, 7], True), (None, True), ([0, 8, 99], False)])
def test_a_queue_that_the_topic_does_not_have_is_refused(
    monkeypatch: pytest.MonkeyPatch, queues: list[int] | None, is_valid: bool
) -> None:
    def found(_: str, name: str) -> Topic:
        return Topic(name, TopicKind.NORMAL, {"broker-a": TopicConfig(name, read_queue_nums=4, write_queue_nums=8)})

    monkeypatch.setattr(topics, "find_topic", found)
    monkeypatch.setattr(form, "require_parts", lambda *_: None)
    monkeypatch.setattr(form, "check_cluster", lambda _: None)
    monkeypatch.setattr(form, "check_live_target", lambda *_: None)
    source, target = {"topic": "orders", "queues": queues}, {"topic": "orders-copy"}
    asked = JobRequestSerializer(data={"type": "replay", "source": source, "target": target}, context={"request": None})

    assert asked.is_valid() is is_valid
    if not is_valid:
        faults = asked.errors["source"]["queues"]
        assert list(faults) == [1, 2]
        assert "has the queues 0 to 7" in str(faults[1])


@pytest.mark.parametrize(
    ("kind", "order", "fault"),
    [
        ("replay", "key", "a replay has queue or key as target.order"),
        ("replay", True, "a replay has queue or key as target.order"),
        ("reconcile", "queue", "is true or false, of a reconciliation"),
        ("reconcile", "yes please", "Must be a valid boolean"),
        ("export", True, "does not belong to this type of job"),
    ],
)
def test_the_order_of_a_replay_is_refused_with_its_place(kind: str, order: Any, fault: str) -> None:
    sides = {"source": {"topic": "orders"}, "target": {"topic": "copy"}} if kind == "replay" else {}
    asked = JobRequestSerializer(data={"type": kind, "order": order, **sides}, context={"request": None})
    assert not asked.is_valid()
    assert fault in str(asked.errors["order"])
