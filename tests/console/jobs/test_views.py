"""Jobs and schedules over HTTP, as the known cast uses them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from console.audit.record import Actor
from console.jobs import schedule as clock
from console.jobs import schedules, services
from console.jobs.models import Job, Schedule
from tests.support.answers import streamed
from tests.support.cast import Cast, somebody

OF_ORDERS = [
    ("topic", "orders*", "read", "produce"), ("topic", "orders", "bodies"), ("job", "*", "read", "jobs"),
    ("schedule", "*", "read", "jobs"),
]  # fmt: skip


def replay(source: dict[str, Any], target: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "replay", "source": {"topic": "a", **source}, "target": {"topic": "b", **(target or {})}}


def test_a_job_is_shown_and_listed(cast: Cast, job: Job) -> None:
    viewer: Any = cast.browser("viewer")
    assert viewer.get(f"/api/v1/jobs/{job.id}").json()["state"] == "queued"
    page = viewer.get("/api/v1/jobs?type=replay&state=queued,running").json()
    assert [each["id"] for each in page["items"]] == [job.id]
    assert viewer.get("/api/v1/jobs?state=failed").json()["items"] == []


def test_who_may_not_run_jobs_may_not_cancel_them(cast: Cast, job: Job) -> None:
    for role, status in (("viewer", 403), ("developer", 403), ("operator", 202)):
        assert cast.browser(role).post(f"/api/v1/jobs/{job.id}:cancel").status_code == status


def test_a_cancelled_job_goes_on_in_its_own_row(cast: Cast, job: Job) -> None:
    operator: Any = cast.browser("operator")
    services.cancel(Actor.system("test"), job)
    answer = operator.post(f"/api/v1/jobs/{job.id}:retry")
    assert (answer.status_code, answer.json()["id"], answer["Location"]) == (202, job.id, f"/api/v1/jobs/{job.id}")
    assert operator.post(f"/api/v1/jobs/{job.id}:retry").status_code == 409


@pytest.mark.parametrize(
    ("request_body", "pointer"),
    [
        ({"type": "replay", "source": {"topic": "a"}}, "#/target"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {"topic": "a"}}, "#/target/topic"),
        ({"type": "mow"}, "#/type"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {"topic": "b"}, "order": True}, "#/order"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {"topic": "b"}, "on_damage": "weep"}, "#/on_damage"),
        ({"type": "reconcile", "left": {"topic": "a"}, "right": {"topic": "b"}, "compare": "luck"}, "#/compare"),
        (
            {
                "type": "replay", "target": {"topic": "b"},
                "source": {"topic": "a", "from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"},
            },
            "#/source/to",
        ),
        (
            {"type": "replay", "target": {"topic": "b"}, "source": {"topic": "a", "from": "{{ last_success }}"}},
            "#/source/from",
        ),
        ({"type": "export", "source": {"topic": "a"}}, "#/format"),
        ({"type": "export", "source": {"topic": "a"}, "format": "xls"}, "#/format"),
        ({"type": "export", "source": {"topic": "a"}, "format": "csv", "columns": ["bodies"]}, "#/columns/0"),
        ({"type": "export", "source": {"topic": "a"}, "format": "csv", "columns": ["key", "key"]}, "#/columns/1"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {"kind": "parquet", "topic": "b"}}, "#/target/topic"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {}}, "#/target/topic"),
        (replay({"where": "exists(select 1)"}), "#/source/where"),
        (replay({"queues": [1], "offsets": [{"queue": 0}]}), "#/source/queues"),
        (replay({"offsets": [{"queue": 0, "from": 7, "to": 7}]}), "#/source/offsets/0/to"),
        (replay({"offsets": [{"queue": 0, "to": 5}, {"queue": 0, "from": 7}]}), "#/source/offsets/1/queue"),
        (replay({"offsets": [{"queue": 0, "broker": "a"}, {"queue": 0}]}), "#/source/offsets/1/queue"),
        (replay({"keys_file": "f1"}), "#/source/keys_file"),
        (replay({"keys": ["A17", "A 17"]}), "#/source/keys/1"),
        (replay({}, {"preserve": ["store_time"]}), "#/target/preserve/0"),
        (replay({}, {"order": "time"}), "#/target/order"),
        (replay({}, {"transform": {"body": "reflect('java.lang.System', 'exit', 0)"}}), "#/target/transform/body"),
        (replay({}, {"transform": {"flag": "1"}}), "#/target/transform/flag"),
        (replay({}, {"transform": {"properties": {"KEYS": "'a'"}}}), "#/target/transform/properties/KEYS"),
        (replay({}, {"transform": {"properties": {"GANTRY_BY": "'me'"}}}), "#/target/transform/properties/GANTRY_BY"),
        (replay({}, {"transform": {"properties": {"a": "1;"}}}), "#/target/transform/properties/a"),
    ],
)  # fmt: skip
def test_a_request_that_makes_no_sense_is_refused(cast: Cast, request_body: dict[str, Any], pointer: str) -> None:
    answer = cast.browser("operator").post("/api/v1/jobs", request_body, format="json")
    assert answer.status_code == 422
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_name_with_a_blank_at_its_end_is_another_name(cast: Cast) -> None:
    answer = cast.browser("operator").post("/api/v1/jobs", {**replay({}), "cluster": "local "}, format="json")
    assert (answer.status_code, answer.json()["detail"]) == (404, "no cluster is named 'local '")


PLACEHOLDERS: list[tuple[dict[str, Any], str]] = [
    (replay({"where": "body = '{{ last_success }}'"}), "source/where"),
    (replay({"where": "store_timestamp > {{last_success}}"}), "source/where"),
    (replay({"tag": "a || {{ scheduled_at - 1h }}"}), "source/tag"),
    (replay({"keys": ["a", "{{ scheduled_at }}"]}), "source/keys/1"),
    (replay({"keys_file": "{{ scheduled_at }}.txt"}), "source/keys_file"),
    (replay({}, {"topic": "{{ scheduled_at }}"}), "target/topic"),
    (replay({}, {"transform": {"body": "'{{ last_success }}'"}}), "target/transform/body"),
    (replay({}, {"transform": {"properties": {"a/b": "'{{ last_success }}'"}}}), "target/transform/properties/a~1b"),
    ({**replay({}), "name": "of {{ SCHEDULED_AT }}"}, "name"),
    (
        {"type": "reconcile", "left": {"topic": "a"}, "right": {"kind": "csv", "path": "{{ scheduled_at }}.csv"}},
        "right/path",
    ),
    (
        {
            "type": "reconcile", "left": {"topic": "a"}, "right": {"topic": "b"},
            "compare": [{"name": "n", "left": "'{{ last_success }}'", "right": "key"}],
        },
        "compare/0/left",
    ),
]  # fmt: skip


@pytest.mark.parametrize("path", ["jobs", "schedules"])
@pytest.mark.parametrize(("job", "pointer"), PLACEHOLDERS, ids=[pointer for _, pointer in PLACEHOLDERS])
def test_a_placeholder_that_would_be_plain_text_is_refused(
    cast: Cast, job: dict[str, Any], pointer: str, path: str
) -> None:
    """Placeholders are refused in any other field, where they would be plain text."""
    body = job if path == "jobs" else {"name": "n", "cron": "* * * * *", "job": job}
    answer = cast.browser("operator").post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == ("#/" if path == "jobs" else "#/job/") + pointer
    assert "which only the bounds from and to of a schedule's job may be" in error["detail"]


@pytest.mark.parametrize(
    "topic",
    [
        "SCHEDULE_TOPIC_XXXX", "TBW102", "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_ANYTHING", "rmq_sys_REVIVE_LOG_x",
        "%RETRY%billing", "%DLQ%billing", "OFFSET_MOVED_EVENT", "SELF_TEST_TOPIC",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["jobs", "schedules"])
def test_nothing_is_replayed_into_what_belongs_to_the_brokers(cast: Cast, topic: str, path: str) -> None:
    # Without asking the cluster, which does not answer here
    job = {"type": "replay", "source": {"topic": "orders"}, "target": {"topic": topic}}
    body = job if path == "jobs" else {"name": "n", "cron": "* * * * *", "job": job}
    answer = cast.browser("operator").post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422, answer.content
    [error] = answer.json()["errors"]
    assert error["pointer"] == ("#/target/topic" if path == "jobs" else "#/job/target/topic")
    assert "jobs cannot write to it" in error["detail"]
    assert not Job.objects.exists()


def test_a_moment_of_a_schedule_that_is_none_is_refused_by_name(cast: Cast) -> None:
    source = {"topic": "a", "from": "{{ scheduled_at - 1w }}"}
    body = {"name": "n", "cron": "* * * * *", "job": {"type": "replay", "source": source, "target": {"topic": "b"}}}
    answer = cast.browser("operator").post("/api/v1/schedules", body, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "#/job/source/from"
    assert "{{ scheduled_at - 1w }}" in error["detail"]


@pytest.mark.parametrize(
    ("job", "verb", "topic"),
    [
        ({"type": "replay", "source": {"topic": "payments"}, "target": {"topic": "orders"}}, "read", "payments"),
        ({"type": "replay", "source": {"topic": "orders"}, "target": {"topic": "payments"}}, "produce", "payments"),
        ({"type": "replay", "source": {"topic": "orders-x"}, "target": {"topic": "orders"}}, "bodies", "orders-x"),
        (
            {"type": "reconcile", "left": {"topic": "orders"}, "right": {"topic": "orders-x"}, "by": "body"},
            "bodies",
            "orders-x",
        ),
        ({"type": "reconcile", "left": {"topic": "orders"}, "right": {"topic": "payments"}}, "read", "payments"),
        ({"type": "reconcile", "left": {"topic": "payments"}, "right": {"topic": "orders"}}, "read", "payments"),
    ],
)
@pytest.mark.parametrize("path", ["jobs", "schedules"])
def test_a_job_reaches_no_topic_that_its_token_does_not(
    cast: Cast, path: str, job: dict[str, Any], verb: str, topic: str
) -> None:
    program = cast.program("operator", "jobs", "read:orders*", "produce:orders*", "bodies:orders")
    body = job if path == "jobs" else {"name": "n", "cron": "* * * * *", "job": job}
    answer = program.post(f"/api/v1/{path}", body, format="json")
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        f"This needs the right {verb!r} on topic {topic!r}. The scopes of the token do not cover it: "
        "jobs, read:orders*, produce:orders*, bodies:orders.",
    )
    # And a schedule cannot be changed to such a job by who may change schedules
    schedule = schedules.add_schedule(
        Actor("ann"), {"name": "m", "cron": "* * * * *", "zone": "UTC", "job": {"type": "replay"}}
    )
    for client in (program, cast.limited(*OF_ORDERS)):
        answer = client.patch(
            f"/api/v1/schedules/{schedule.id}", {"job": job}, format="json", headers={"if-match": "*"}
        )
        assert answer.status_code == 403, answer.content


@pytest.mark.parametrize("kind", ["replay", "export"])
def test_a_refusal_names_the_type_of_the_job(cast: Cast, kind: str) -> None:
    clerk = cast.limited(("topic", "*", "read", "bodies", "produce"), ("job", "reconcile", "read", "jobs"))
    job: dict[str, Any] = {"type": kind, "source": {"topic": "orders"}}
    target = {"target": {"topic": "copy"}} if kind == "replay" else {"format": "csv"}
    answer = clerk.post("/api/v1/jobs", {**job, **target}, format="json")
    assert answer.status_code == 403, answer.content
    assert answer.json()["detail"].startswith(f"This needs the right 'jobs' on job {kind!r}. ")


def test_a_replay_is_retried_and_resumed_by_nobody_who_may_not_read_its_bodies(cast: Cast, job: Job) -> None:
    program = cast.program("operator", "jobs", "read", "produce")
    services.cancel(Actor("ann"), job)
    fields = {"name": "m", "cron": "* * * * *", "zone": "UTC", "job": job.request, "enabled": False}
    schedule = schedules.add_schedule(Actor("ann"), fields)
    path, any_tag = f"/api/v1/schedules/{schedule.id}", {"if-match": "*"}
    assert program.patch(path, {"cron": "0 * * * *"}, format="json", headers=any_tag).status_code == 200
    for answer in (
        program.post(f"/api/v1/jobs/{job.id}:retry"),
        program.post(f"{path}:run_now"),
        program.patch(path, {"enabled": True}, format="json", headers=any_tag),
    ):
        assert answer.status_code == 403, answer.content
        assert answer.json()["detail"].startswith("This needs the right 'bodies' on topic 'orders'.")


@pytest.mark.parametrize(("part", "name"), [("source", "from"), ("source", "to")])
def test_a_time_without_a_zone_is_refused(cast: Cast, part: str, name: str) -> None:
    body: dict[str, Any] = {"type": "replay", "source": {"topic": "a"}, "target": {"topic": "b"}}
    body[part][name] = "2026-05-01T08:00:00"
    answer = cast.browser("operator").post("/api/v1/jobs", body, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert (error["pointer"], "no time zone" in error["detail"]) == (f"#/{part}/{name}", True)


@pytest.mark.parametrize(
    "cron",
    [
        "", "* * * *", "60 * * * *", "*/0 * * * *", "1-0-5 * * * *", "a * * * *", "0 24 * * *", "0 0 0 * *",
        "0 0 31 2 *", "* * * 13 *", "* * * * 8", "- * * * *", ", * * * *", "٣ * * * *", "1/ * * * *", "**** * * * *",
    ],
)  # fmt: skip
def test_a_cron_expression_that_cannot_fire_is_refused_with_words(cast: Cast, cron: str) -> None:
    job = {"type": "replay", "source": {"topic": "a"}, "target": {"topic": "%DLQ%b"}}
    body = {"name": "n", "cron": cron, "job": job}
    answer = cast.browser("operator").post("/api/v1/schedules", body, format="json")
    assert answer.status_code == 422, answer.content
    assert "#/cron" in [error["pointer"] for error in answer.json()["errors"]]


def test_a_schedule_that_is_changed_gets_a_whole_job(cast: Cast) -> None:
    schedule = schedules.add_schedule(
        Actor("ann"), {"name": "n", "cron": "* * * * *", "zone": "UTC", "job": {"type": "replay"}}
    )
    operator: Any = cast.browser("operator")
    for job, pointer in (
        ({"type": "replay", "target": {"topic": "b"}}, "#/job/source"),
        ({"source": {"topic": "a"}}, "#/job/type"),
        ({}, "#/job/type"),
    ):
        answer = operator.patch(
            f"/api/v1/schedules/{schedule.id}", {"job": job}, format="json", headers={"if-match": "*"}
        )
        assert answer.status_code == 422, answer.content
        assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_what_is_gone_is_said_to_be_gone(cast: Cast, job: Job, place: Path) -> None:
    Job.objects.filter(pk=job.pk).update(state="failed", files_removed_at="2026-05-01T00:00:00Z")
    viewer: Any = cast.browser("viewer")
    for path in ("log", "progress", "report", "artefacts/report.json"):
        answer = viewer.get(f"/api/v1/jobs/{job.id}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (410, "FILES_GONE"), path
        assert "2026-05-01" in answer.json()["detail"]
    assert viewer.get(f"/api/v1/jobs/{job.id}").json()["files_removed_at"] == "2026-05-01T00:00:00.000Z"
    assert cast.browser("operator").post(f"/api/v1/jobs/{job.id}:retry").status_code == 409


def test_the_log_is_read_piece_by_piece(cast: Cast, job: Job, place: Path) -> None:
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "log").write_text("one\ntwo\nthr")
    viewer: Any = cast.browser("viewer")
    piece = viewer.get(f"/api/v1/jobs/{job.id}/log").json()
    assert piece == {"text": "one\ntwo\n", "next_offset": 8}
    assert viewer.get(f"/api/v1/jobs/{job.id}/log?offset=8").json() == {"text": "", "next_offset": 8}
    # Beyond its end a log has no text, and `next_offset` is the end
    assert viewer.get(f"/api/v1/jobs/{job.id}/log?offset=999").json() == {"text": "", "next_offset": 11}


def test_the_report_and_the_files_of_a_job_can_be_read_and_nothing_else(cast: Cast, job: Job, place: Path) -> None:
    viewer: Any = cast.browser("viewer")
    assert viewer.get(f"/api/v1/jobs/{job.id}/report").status_code == 404
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "report.json").write_text('{"tiles": {"matched": 3}, "samples": []}')
    (folder / "request.json").write_text("{}")
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "report.json", "kind": "json", "bytes": 40}])
    assert viewer.get(f"/api/v1/jobs/{job.id}/report").json()["tiles"] == {"matched": 3}
    answer = viewer.get(f"/api/v1/jobs/{job.id}/artefacts/report.json")
    # Read to its end: an answer that is closed from outside takes the connection of the test along.
    assert (answer.status_code, streamed(answer)) == (200, (folder / "report.json").read_bytes())
    assert viewer.get(f"/api/v1/jobs/{job.id}/artefacts/request.json").status_code == 404


def test_the_runs_of_a_schedule_are_listed_with_their_jobs_and_reasons(cast: Cast) -> None:
    # Given a schedule with a window and a delay, a manual run, and a time that gave way to it
    job = {"type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": "copy"}}
    fields: dict[str, Any] = {
        "name": "spread",
        "cron": "0 * * * *",
        "zone": "UTC",
        "catch_up_ms": 3_600_000,
        "jitter_ms": 1,
        "job": job,
    }
    path = f"/api/v1/schedules/{schedules.add_schedule(somebody('operator'), fields).pk}"
    operator: Any = cast.browser("operator")
    made = operator.get(path).json()
    assert (made["catch_up_ms"], made["jitter_ms"]) == (3_600_000, 1)
    started = operator.post(f"{path}:run_now").json()
    due_at = Schedule.objects.get().next_run_at
    assert due_at is not None
    assert clock.step(due_at + timedelta(seconds=1)) == []
    # Then both are listed, the newest first, with the job
    skipped, manual = operator.get(f"{path}/runs").json()["items"]
    assert (skipped["outcome"], skipped["reason"], skipped["job_id"]) == ("skipped", "earlier_run", started["id"])
    assert skipped["scheduled_for"] == made["next_run_at"]
    assert (manual["outcome"], manual["scheduled_for"], manual["job"]["id"]) == ("started", None, started["id"])
    first = operator.get(f"{path}/runs?limit=1").json()
    assert [each["id"] for each in first["items"]] == [skipped["id"]]
    assert operator.get(f"{path}/runs?cursor={first['next_cursor']}").json()["items"] == [manual]
    # And a window or a delay that cannot be is refused by name
    wrong = operator.patch(path, {"catch_up_ms": 1, "jitter_ms": -1}, format="json", headers={"if-match": "*"})
    assert {each["pointer"] for each in wrong.json()["errors"]} == {"#/catch_up_ms", "#/jitter_ms"}


def test_a_pause_has_the_reason_that_its_user_gives_until_it_ends(cast: Cast) -> None:
    job = {"type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": "copy"}}
    made = schedules.add_schedule(somebody("operator"), {"name": "n", "cron": "0 3 * * *", "zone": "UTC", "job": job})
    operator: Any = cast.browser("operator")

    def change(**fields: Any) -> Any:
        any_tag = {"if-match": "*"}
        return operator.patch(f"/api/v1/schedules/{made.id}", fields, format="json", headers=any_tag)

    refused = change(stopped_reason="no ledger today")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "#/stopped_reason")
    assert change(enabled=False, stopped_reason="no ledger today").json()["stopped_reason"] == "no ledger today"
    assert change(name="other").json()["stopped_reason"] == "no ledger today"
    assert change(enabled=True).json()["stopped_reason"] is None
