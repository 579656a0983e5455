"""The replay of what a reconciliation found missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies.topics import TopicConfig
from console.jobs import services
from console.jobs.models import Job
from console.jobs.requests import replay as replays
from console.jobs.requests import topics
from tests.console.jobs.conftest import BY, REPLAY
from tests.support.cast import Cast

ASKED: dict[str, Any] = {
    "type": "reconcile", "cluster": "local", "left": {"topic": "orders"}, "right": {"topic": "copy"}, "by": "key"
}  # fmt: skip
EXPORT = {**REPLAY, "type": "export", "format": "csv"}
FOUND = [{"name": "missing.jsonl", "kind": "jsonl", "bytes": 9}]


@pytest.fixture(autouse=True)
def _cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(_: str, name: str) -> Topic:
        return Topic(name, TopicKind.NORMAL, {"broker-a": TopicConfig(name, read_queue_nums=4, write_queue_nums=4)})

    monkeypatch.setattr(topics, "find_topic", found)
    monkeypatch.setattr(topics, "require_cluster", lambda _: None)
    monkeypatch.setattr(replays, "check_not_live", lambda *_: None)


def job_of(asked: dict[str, Any] = ASKED, **fields: Any) -> Job:
    job = services.create(BY, asked)
    Job.objects.filter(pk=job.pk).update(**{"state": "succeeded", "artefacts": FOUND, **fields})
    return job


def replay(client: Any, job: Job, **body: Any) -> Any:
    return client.post(f"/api/v1/jobs/{job.pk}:replay_missing", body, format="json")


def test_it_reads_the_positions_of_the_report_and_sends_to_the_right_side(cast: Cast) -> None:
    job = job_of()
    answer = replay(cast.browser("operator"), job, limits={"messages_per_second": 100}, dry_run=True)
    assert answer.status_code == 202, answer.content
    started = Job.objects.get(pk=answer.json()["id"])
    assert started.request == {
        "type": "replay", "cluster": "local", "limits": {"messages_per_second": 100}, "dry_run": True,
        "source": {"topic": "orders", "positions": {"job": job.pk, "file": "missing.jsonl"}},
        "target": {"topic": "copy"},
    }  # fmt: skip
    assert started.parent_id == job.pk


def refused(**fields: Any) -> Job:
    """A replay that could not copy three messages."""
    asked = {**REPLAY, "source": {"topic": "orders", "where": "json:n > 1"},
             "target": {"topic": "copy", "transform": {"tag": "concat(tag, '||')"}}}  # fmt: skip
    found = [{"name": "failures.jsonl", "kind": "jsonl", "bytes": 9}]
    state = {"state": "partial", "state_code": "some_failed", "artefacts": found, "counters": {"failed": 3}}
    return job_of(asked, **{**state, **fields})


def test_what_a_replay_could_not_copy_is_replayed_by_its_positions_and_perhaps_otherwise(cast: Cast) -> None:
    job = refused()
    answer = replay(cast.browser("operator"), job)
    assert answer.status_code == 202, answer.content
    positions = {"job": job.pk, "file": "failures.jsonl"}
    made = Job.objects.get(pk=answer.json()["id"])
    assert made.request["source"] == {"topic": "orders", "positions": positions}
    assert made.request["target"] == job.request["target"]
    assert made.parent_id == job.pk
    # With another transformation, as the first one was at fault
    target = {"topic": "copy", "transform": {"tag": "tag"}}
    assert replay(cast.browser("operator"), job, target=target).json()["request"]["target"] == target


@pytest.mark.parametrize("fields", [{"artefacts": []}, {"counters": {"failed": 0}}])
def test_a_replay_that_names_nothing_refused_has_nothing_to_replay(cast: Cast, fields: dict[str, Any]) -> None:
    answer = replay(cast.browser("operator"), refused(**fields))
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")
    assert "names no message that was refused" in answer.json()["detail"]


@pytest.mark.parametrize(("state", "code"), [("partial", "some_failed"), ("failed", "none_written")])
def test_a_replay_that_has_read_all_of_its_range_is_not_retried(cast: Cast, state: str, code: str) -> None:
    job = refused(state=state, state_code=code)
    answer = cast.browser("operator").post(f"/api/v1/jobs/{job.pk}:retry")
    assert answer.status_code == 409
    assert answer.json()["detail"] == (
        f"job {job.pk} has read all of its range, and a retry leaves out the same messages; "
        f"POST /jobs/{job.pk}:replay_missing replays those"
    )


def test_the_right_side_may_be_in_another_cluster(cast: Cast) -> None:
    answer = replay(cast.browser("operator"), job_of({**ASKED, "right": {"topic": "copy", "cluster": "east"}}))
    assert answer.json()["request"]["target"] == {"topic": "copy", "cluster": "east"}


def test_the_missing_may_be_written_into_a_file(cast: Cast) -> None:
    answer = replay(cast.browser("operator"), job_of(), target={"kind": "parquet"})
    assert (answer.status_code, answer.json()["request"]["target"]) == (202, {"kind": "parquet"})


def test_a_topic_that_groups_read_gets_copies_only_if_that_is_allowed(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def live(_request: Any, _cluster: str, topic: str) -> None:
        raise ValidationError({"allow_live_target": f"{topic} is read"})

    monkeypatch.setattr(replays, "check_not_live", live)
    operator, job = cast.browser("operator"), job_of()
    assert "copy is read" in replay(operator, job).json()["errors"][0]["detail"]
    assert replay(operator, job, allow_live_target=True).status_code == 202


def test_copies_that_are_paired_by_their_ids_keep_them(cast: Cast) -> None:
    answer = replay(cast.browser("operator"), job_of({**ASKED, "by": "unique_id"}))
    assert answer.json()["request"]["target"] == {"topic": "copy", "preserve": ["unique_id"]}


def test_the_target_may_be_another_topic_and_must_be_named_where_the_right_is_none(cast: Cast) -> None:
    operator = cast.browser("operator")
    table = {**ASKED, "right": {"kind": "csv", "path": "a.csv"}}
    answer = replay(operator, job_of(table))
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == ["#/target"]
    answer = replay(operator, job_of(table), target={"topic": "repaired"})
    assert answer.json()["request"]["target"] == {"topic": "repaired"}
    assert replay(operator, job_of(), target={"topic": "orders"}).status_code == 422


@pytest.mark.parametrize(
    ("asked", "fields", "reason"),
    [
        (ASKED, {"artefacts": []}, "has no position of a message that is missing on the right"),
        (ASKED, {"state": "running", "artefacts": []}, "is running and has no position"),
        (EXPORT, {}, "is of the type export; only a reconciliation of two sides finds messages that are missing"),
        (ASKED, {"files_removed_at": "2026-05-01T00:00:00Z"}, "were removed on 2026-05-01"),
    ],
)
def test_without_positions_it_is_refused(
    cast: Cast, asked: dict[str, Any], fields: dict[str, Any], reason: str
) -> None:
    answer = replay(cast.browser("operator"), job_of(asked, **fields))
    assert answer.status_code == 409
    assert reason in answer.json()["detail"]


@pytest.mark.parametrize(
    ("notes", "reason"),
    [
        ({"dead": 25}, "25 are dead letters, which a redrive sends again, 0 are in retry, and 0 are not consumed yet"),
        ({"waiting": 3, "in retry": 2}, "0 are dead letters, which a redrive sends again, 2 are in retry, and 3 are"),
        ({}, "has no position of a message that is missing on the right"),
    ],
)
def test_what_a_group_has_not_consumed_is_said_where_nothing_can_be_sent(
    cast: Cast, notes: dict[str, int], reason: str
) -> None:
    right = {"kind": "group", "group": "billing", "topic": "orders"}
    job = job_of({**ASKED, "right": right}, artefacts=[])
    job.folder.mkdir(parents=True)
    (job.folder / "report.json").write_text(json.dumps({"notes": notes}))
    answer = replay(cast.browser("operator"), job)
    assert (answer.status_code, reason in answer.json()["detail"]) == (409, True), answer.json()


@pytest.mark.parametrize(("readable", "status"), [("*", 403), ("other", 404)])
def test_it_needs_what_a_replay_of_the_topics_needs(cast: Cast, readable: str, status: int) -> None:
    mia: Any = cast.limited(("topic", readable, "read"), ("job", "*", "read", "jobs"))
    assert replay(mia, job_of()).status_code == status
