"""Requirements of `console.jobs.visibility`: whoever may not see a job or schedule can do nothing with it either."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.jobs import schedules, services, urls
from console.jobs.models import Job, Schedule
from console.jobs.visibility import existing_jobs
from tests.console.jobs.conftest import BY, REPLAY
from tests.support.cast import Cast

HIDDEN = {**REPLAY, "source": {"topic": "hid-a"}, "target": {"topic": "hid-b"}}
TIMES = {"cron": "0 3 * * *", "zone": "UTC"}
UNKNOWN = "0" * 16


@pytest.fixture
def mia(cast: Cast) -> Any:
    """Somebody who may run every job, on the topics t-* alone, and send dead letters of g-* again without bodies."""
    return cast.limited(
        ("topic", "t-*", "read"), ("topic", "t-pub", "produce", "bodies"), ("group", "g-*", "read", "redrive"),
        ("group", "g-open", "bodies", "manage"), ("job", "*", "read", "jobs"), ("schedule", "*", "read", "jobs"),
    )  # fmt: skip


def requests_of(argument: str) -> Iterator[tuple[str, str]]:
    """Yield every request that names a job or schedule by its id, with the id left out."""
    for route in urls.urlpatterns:
        view: Any = route.callback
        path = str(route.pattern).replace(f"<str:{argument}>", "{id}").replace("<str:name>", "report.json")
        if "{id}" in path:
            methods = [name for name in ("get", "post", "patch", "delete") if hasattr(view.cls, name)]
            yield from ((name.upper(), f"/api/v1/{path}") for name in methods)


def ask(client: Any, method: str, path: str, **body: Any) -> Any:
    sent: dict[str, Any] = {"data": body, "format": "json"} if body else {}
    if path.endswith("definitions:apply") or (method in ("PATCH", "DELETE") and "/schedules/" in path):
        sent["headers"] = {"If-Match": "*"}
    return getattr(client, method.lower())(path, **sent)


def test_no_request_tells_a_hidden_job_or_schedule_from_one_that_does_not_exist(mia: Any) -> None:
    job = services.create(BY, HIDDEN)
    schedule = schedules.add_schedule(BY, {"name": "nightly", **TIMES, "job": HIDDEN})
    records = AuditRecord.objects.count()
    for argument, row, expected in (("job_id", job, 12), ("schedule_id", schedule, 5)):
        requests = list(requests_of(argument))
        assert len(requests) == expected
        for method, path in requests:
            hidden, unknown = (ask(mia, method, path.format(id=each)) for each in (row.pk, UNKNOWN))
            assert (hidden.status_code, unknown.status_code) == (404, 404), (method, path, hidden.content)
            told = hidden.json()["detail"].replace(row.pk, UNKNOWN)
            assert told == unknown.json()["detail"], (method, path)
    # And nothing became of them
    assert Job.objects.get().state == "queued"
    assert Schedule.objects.filter(pk=schedule.pk, name="nightly").exists()
    assert AuditRecord.objects.count() == records


def test_a_job_and_schedule_of_topics_that_one_may_read_are_changed(mia: Any) -> None:
    seen = {**REPLAY, "source": {"topic": "t-pub"}, "target": {"topic": "t-pub"}}
    job = services.create(BY, seen)
    assert ask(mia, "POST", f"/api/v1/jobs/{job.pk}:cancel").status_code == 202
    assert ask(mia, "POST", f"/api/v1/jobs/{job.pk}:retry").status_code == 202
    path = f"/api/v1/schedules/{schedules.add_schedule(BY, {'name': 'nightly', **TIMES, 'job': seen}).pk}"
    assert ask(mia, "PATCH", path, cron="0 4 * * *").status_code == 200
    assert ask(mia, "POST", f"{path}:run_now").status_code == 202
    assert ask(mia, "DELETE", path).status_code == 204


@pytest.mark.parametrize(
    ("group", "target", "topics", "missing"),
    [
        ("g-sd", {"to": "failed_group"}, ["%RETRY%g-sd"], None),
        ("g-sd", {"to": "other", "topic": "t-pub"}, ["t-pub"], "'bodies' on group 'g-sd'"),
        ("g-sd", {"to": "origin"}, ["t-pub"], "'bodies' on group 'g-sd'"),
        ("g-open", {"to": "other", "topic": "t-pub"}, ["t-pub"], None),
        ("g-open", {"to": "origin"}, ["t-pub"], None),
        ("g-open", {"to": "origin"}, ["t-pub", "t-sec"], "'produce' on topic 't-sec'"),
    ],
)
def test_a_redrive_of_somebody_else_is_retried_only_by_who_might_have_started_it(
    mia: Any, group: str, target: dict[str, str], topics: list[str], missing: str | None
) -> None:
    asked = {"type": "redrive", "cluster": "local", "group": group, "target": target, "topics": topics}
    job = services.cancel(BY, services.create(BY, {**asked, "filter": {}, "limits": {}, "originals": "kept"}))
    answer = ask(mia, "POST", f"/api/v1/jobs/{job.pk}:retry")
    assert answer.status_code == (202 if missing is None else 403), answer.content
    assert missing is None or missing in answer.json()["detail"]


@pytest.mark.parametrize(
    ("how", "shows_contents"),
    [
        ({"by": "key", "compare": ["tag", "keys"]}, False),
        ({"by": "unique_id", "compare": "none"}, False),
        ({"by": "key"}, True),
        ({"by": "key", "compare": "body"}, True),
        ({"by": "key", "compare": ["tag", "properties"]}, True),
        ({"by": "body", "compare": "none"}, True),
        ({"by": {"left": "json:id::string", "right": "key"}, "compare": "none"}, True),
        ({"by": "key", "compare": [{"name": "n", "left": "key", "right": "json:n::int"}]}, True),
    ],
)
def test_what_stands_in_messages_is_reported_to_those_alone_who_may_read_bodies(
    cast: Cast, mia: Any, how: dict[str, Any], shows_contents: bool
) -> None:
    asked = {"type": "reconcile", "cluster": "local", "left": {"topic": "t-a"}, "right": {"topic": "t-pub"}, **how}
    # Given the report of a reconciliation
    job = services.create(BY, asked)
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "report.json", "bytes": 1}])
    folder = services.folder_of(job)
    folder.mkdir(parents=True)
    values = {"body": {"left": "secret", "right": "guess"}}
    report = {"summary": "1 differs", "tiles": {"different": 1}, "samples": [{"key": "K1", "values": values}]}
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    paths = [f"/api/v1/jobs/{job.pk}/{name}" for name in ("report", "artefacts/report.json")]
    # Then whoever lacks the right for one of the topics gets no values, and no file that holds some
    shown = mia.get(paths[0])
    missing = "'bodies' on topic 't-a'"
    with closing(mia.get(paths[1])) as file:
        assert (shown.status_code, file.status_code) == (200, 403 if shows_contents else 200)
        assert not shows_contents or missing in file.json()["detail"]
    # An expression for the key may be a part of the body
    is_of_body = how["by"] not in ("key", "unique_id")
    hidden = {**report, "samples": [{"key": None if is_of_body else "K1"}], "hidden": "bodies"}
    assert shown.json() == (hidden if shows_contents else report)
    # And can start no such job, neither
    refused = ask(mia, "POST", "/api/v1/jobs", **asked)
    assert (refused.status_code == 403 and missing in refused.json()["detail"]) == shows_contents, refused.content
    # Nor does it see a log that may quote some
    log = mia.get(f"/api/v1/jobs/{job.pk}/log")
    assert (log.status_code == 403 and missing in log.json()["detail"]) == shows_contents, log.content
    # But whoever may read bodies has all of it
    assert cast.browser("developer").get(paths[0]).json() == report
    with closing(cast.browser("developer").get(paths[1])) as file:
        assert file.status_code == 200


@pytest.mark.parametrize(("where", "is_hidden"), [({}, False), ({"where": "tag = 'a'"}, True)])
def test_the_files_of_a_job_say_which_right_its_log_needs(
    cast: Cast, mia: Any, where: dict[str, str], is_hidden: bool
) -> None:
    asked = {**REPLAY, "source": {"topic": "t-a", **where}, "target": {"topic": "t-pub"}}
    path = f"/api/v1/jobs/{services.create(BY, asked).pk}"
    assert mia.get(f"{path}/artefacts").json()["log_hidden"] == ("bodies" if is_hidden else None)
    assert mia.get(f"{path}/log").status_code == (403 if is_hidden else 200)
    assert cast.browser("developer").get(f"{path}/artefacts").json()["log_hidden"] is None


def test_a_job_that_reads_a_file_is_for_those_who_may_read_every_message(cast: Cast, mia: Any) -> None:
    source = {"topic": "t-pub", "keys_file": "k.txt"}
    asked = {**REPLAY, "source": source, "target": {"topic": "t-pub"}, "allow_live_target": True}
    job = services.create(BY, asked)
    assert mia.get(f"/api/v1/jobs/{job.pk}").status_code == 404
    assert cast.browser("developer").get(f"/api/v1/jobs/{job.pk}").status_code == 200
    refused = ask(mia, "POST", "/api/v1/jobs", **asked)
    assert (refused.status_code, "'bodies'" in refused.json()["detail"]) == (403, True)
    # Nor do lists show it, or its schedule, to whoever may read everything but bodies
    schedule = schedules.add_schedule(BY, {"name": "of-a-file", **TIMES, "job": asked})
    for who, is_seen in (("viewer", False), ("developer", True)):
        browser = cast.browser(who)
        for path, pk in (("jobs", job.pk), ("schedules", schedule.pk)):
            assert (pk in browser.get(f"/api/v1/{path}").content.decode()) == is_seen, (who, path)
        assert existing_jobs([job.pk], reads_bodies=is_seen) == ({job.pk} if is_seen else set())


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({}, 200),
        ({"source": {"topic": "t-a", "where": "json:n::int > 1"}}, 403),
        ({"target": {"topic": "t-pub", "transform": {"tag": "json:n::string"}}}, 403),
    ],
)
def test_the_log_of_a_job_with_expressions_may_quote_messages_and_needs_the_right_to_read_bodies(
    cast: Cast, mia: Any, how: dict[str, Any], status: int
) -> None:
    job = services.create(BY, {**REPLAY, "source": {"topic": "t-a"}, "target": {"topic": "t-pub"}, **how})
    answer = mia.get(f"/api/v1/jobs/{job.pk}/log")
    assert answer.status_code == status
    assert status == 200 or "'bodies' on topic 't-a'" in answer.json()["detail"]
    assert cast.browser("developer").get(f"/api/v1/jobs/{job.pk}/log").status_code == 200


def test_the_messages_in_the_report_of_a_dry_run_are_masked_as_everywhere(cast: Cast, mia: Any) -> None:
    asked = {**REPLAY, "source": {"topic": "t-a"}, "target": {"topic": "t-pub"}, "dry_run": True}
    job = services.create(BY, asked)
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "report.json", "bytes": 1}])
    message = {"queue_offset": 7, "keys": ["K1"], "body": "secret", "properties": {"who": "ann"}}
    report = {"messages": 1, "first": [message], "last": [message]}
    folder = services.folder_of(job)
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    paths = [f"/api/v1/jobs/{job.pk}/{name}" for name in ("report", "artefacts/report.json")]
    masked = [{**message, "body": None, "properties": None}]
    assert mia.get(paths[0]).json() == {"messages": 1, "first": masked, "last": masked, "hidden": "bodies"}
    with closing(mia.get(paths[1])) as file:
        assert file.status_code == 403
    assert cast.browser("developer").get(paths[0]).json() == report


def test_a_redrive_to_an_origin_that_one_may_not_read_is_hidden(mia: Any) -> None:
    asked = {"type": "redrive", "cluster": "local", "group": "g-sd", "target": {"to": "origin"}, "filter": {}}
    shown, hidden = (services.create(BY, {**asked, "topics": [topic]}) for topic in ("t-sec", "hid-a"))
    assert [each["id"] for each in mia.get("/api/v1/jobs").json()["items"]] == [shown.pk]
    assert mia.get(f"/api/v1/jobs/{hidden.pk}").status_code == 404


def test_a_file_of_definitions_resumes_no_schedule_whose_job_one_may_not_start(mia: Any) -> None:
    # Given a replay of a topic whose bodies one may not read, which does not run
    job = {**REPLAY, "source": {"topic": "t-sec"}, "target": {"topic": "t-pub"}}
    schedule = schedules.add_schedule(BY, {"name": "nightly", **TIMES, "job": job, "enabled": False})
    item = {"name": "nightly", **TIMES, "job": job, "enabled": True}
    file = {"format": "gantry.definitions/1", "schedules": [item]}
    for action, status in (("diff", 200), ("apply", 207)):
        answer = ask(mia, "POST", f"/api/v1/definitions:{action}", definitions=file)
        assert answer.status_code == status, answer.content
        assert "This needs the right 'bodies' on topic 't-sec'" in answer.json()["items"][0]["reason"]
    assert not Schedule.objects.get(pk=schedule.pk).enabled


@pytest.mark.parametrize(
    ("right", "missing"),
    [
        ({"kind": "csv", "path": "a.csv"}, "'bodies'"),
        ({"kind": "postgresql", "connection": "shop", "table": "orders"}, "'bodies'"),
        ({"kind": "group", "group": "h-secret", "topic": "t-pub"}, "'read' on group 'h-secret'"),
    ],
)
def test_a_reconciliation_shows_no_file_table_or_group_to_those_who_may_not_read_it(
    mia: Any, right: dict[str, Any], missing: str
) -> None:
    left, by = {"topic": "t-pub"}, {"left": "key", "right": "id"}
    asked = {"type": "reconcile", "cluster": "local", "left": left, "right": right, "by": by, "compare": "none"}
    answer = mia.post("/api/v1/jobs", asked, format="json")
    assert answer.status_code == 403
    assert missing in answer.json()["detail"]
    job = services.create(BY, asked)
    assert mia.get(f"/api/v1/jobs/{job.pk}").status_code == 404
    assert job.pk not in {each["id"] for each in mia.get("/api/v1/jobs").json()["items"]}


def test_the_check_of_a_store_needs_the_right_to_read_everything(mia: Any) -> None:
    asked = {"type": "reconcile", "check": "store", "cluster": "local"}
    assert mia.post("/api/v1/jobs", asked, format="json").status_code == 403
    assert mia.get(f"/api/v1/jobs/{services.create(BY, asked).pk}").status_code == 404
