"""Running a job: a real program as a child, whose end becomes the state of the job."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.utils import timezone

from console.audit.record import Actor
from console.fields import moment
from console.jobs import launcher, program, services, tasks
from console.jobs.models import Job, JobState, StateCode
from tests.support.cast import Cast
from tests.support.wait import wait_until

ANN = Actor("ann")


def test_a_program_that_reaches_no_broker_says_so_and_the_job_is_tried_again_later(job: Job, place: Path) -> None:
    (place / "broker").mkdir()
    before = timezone.now()
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.retries, job.attempt) == (JobState.QUEUED, 1, 1)
    assert "cannot connect to 127.0.0.1:1" in (job.state_reason or "")
    assert job.next_try_at is not None
    assert job.next_try_at - before >= services.WAITS[0]
    # Until then no worker takes it, unless a user wants that
    assert services.claim(job.id, worker="w", host="h") is None
    services.retry(ANN, job)
    assert services.claim(job.id, worker="w", host="h") is not None
    request = place / "jobs" / job.id / "request.json"
    assert request.stat().st_mode & 0o777 == 0o600
    assert json.loads(request.read_text())["source"]["store"] == str(place / "broker")


def test_a_job_that_somebody_else_has_is_left_alone(job: Job) -> None:
    services.claim(job.id, worker="other", host="h")
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.worker) == (JobState.RUNNING, "other")


def test_a_worker_that_stops_leaves_its_job_to_the_next_one(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "claim", _claim_then_stop)
    try:
        launcher.run(job.id, worker="w")
    finally:
        launcher.stopping.clear()
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.QUEUED, 1)


_claim = services.claim


def _claim_then_stop(job_id: str, *, worker: str, host: str) -> Job | None:
    job = _claim(job_id, worker=worker, host=host)
    launcher.stopping.set()
    return job


def test_the_program_of_a_lost_worker_is_ended_and_its_job_tried_again(job: Job) -> None:
    # Given a run whose launcher has died while its program continues
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    mine = services.claim(job.id, worker="w", host=socket.gethostname())
    assert mine is not None
    Job.objects.filter(pk=job.pk).update(pid=child.pid, pid_started=program.started_at(child.pid), lease_until=None)
    # When the reaper runs
    tasks.reap()
    # Then the program has ended
    assert child.wait(10) == -9
    job.refresh_from_db()
    assert job.next_try_at is not None
    assert job.state_code == StateCode.WORKER_LOST
    at, why = moment(job.next_try_at), "the last one ended because its worker was lost"
    assert (job.state, job.state_reason) == (JobState.QUEUED, f"attempt 2 of 4, starts at {at}; {why}")


# Without its launcher it writes more, and ends as one that was told to.
_ORPHAN = """
import json
lines = [{"counters": {"planned": 90, "read": read, "written": read}, "rate": 5.0} for read in (46, 48)]
open("progress.jsonl", "w").write("".join(json.dumps(line) + "\\n" for line in lines) + '{"counters": {"re')
open("report.json", "w").write('{"summary": "48 messages were written and remain"}')
file = {"name": "report.json", "kind": "json", "bytes": 49}
open("result.json", "w").write(json.dumps({"artefacts": [file], "versions": {"gantry": "1"}}))
"""


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_what_the_program_of_a_lost_worker_has_done_is_told(job: Job, place: Path, is_cancelled: bool) -> None:
    # Given a run whose launcher has died, after it wrote less than the program told
    mine = services.claim(job.id, worker="w", host=socket.gethostname())
    assert mine is not None
    counted = {**job.counters, "planned": 90, "read": 46, "written": 46}
    Job.objects.filter(pk=job.pk).update(counters=counted, rate=5.0, eta_ms=9000, lease_until=None)
    folder = place / "jobs" / job.id
    program.prepare(folder, {})
    subprocess.run([sys.executable, "-c", _ORPHAN], cwd=folder, check=True)
    if is_cancelled:
        services.cancel(ANN, job)
    # When the reaper runs
    tasks.reap()
    # Then the row has what the files have, and no rate of something that does not run
    job.refresh_from_db()
    assert job.state == (JobState.CANCELLED if is_cancelled else JobState.QUEUED)
    assert job.counters == {**counted, "read": 48, "written": 48}
    assert (job.rate, job.eta_ms, job.versions) == (None, None, {"gantry": "1"})
    assert job.result == {"summary": "48 messages were written and remain"}
    assert [each["name"] for each in job.artefacts] == ["report.json"]


def test_a_lost_worker_whose_files_are_elsewhere_changes_no_counter(job: Job) -> None:
    services.claim(job.id, worker="w", host="elsewhere")
    counted = {**job.counters, "planned": 90, "read": 46, "written": 46}
    Job.objects.filter(pk=job.pk).update(counters=counted, lease_until=None)
    tasks.reap()
    job.refresh_from_db()
    assert (job.state, job.counters) == (JobState.QUEUED, counted)


def test_a_job_that_runs_again_has_no_report_of_the_run_before(
    job: Job, place: Path, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a job that was paused with a report
    folder = place / "jobs" / job.id
    playing(monkeypatch, _ORPHAN + "raise SystemExit(2)")
    launcher.run(job.id, worker="w")
    operator = cast.browser("operator")
    path = f"/api/v1/jobs/{job.id}"
    assert operator.get(f"{path}/report").json()["summary"] == "48 messages were written and remain"
    # When it runs again
    playing(monkeypatch, "raise SystemExit(2)")
    services.retry(ANN, job)
    seen: list[tuple[int, object, object]] = []

    def look(_run: object, _child: object) -> int:
        shown = operator.get(path).json()
        seen.append((operator.get(f"{path}/report").status_code, shown["result"], shown["artefacts"]))
        (folder / "report.json").write_text('{"summary": "anew"}')
        return 2

    monkeypatch.setattr(launcher._JobRun, "_watch", look)
    launcher.run(job.id, worker="w")
    # Then there is none until this run writes its own
    assert seen == [(404, None, [])]
    assert operator.get(path).json()["result"] == {"summary": "anew"}


def test_a_lost_worker_takes_no_job_along_that_was_cancelled(job: Job) -> None:
    services.claim(job.id, worker="w", host="h")
    services.cancel(ANN, job)
    Job.objects.filter(pk=job.pk).update(lease_until=None)
    tasks.reap()
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (JobState.CANCELLED, "cancelled by ann; messages already written stay")


def playing(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Use this Python code as the program of every job."""
    monkeypatch.setattr(program, "command", lambda kind, folder: [sys.executable, "-c", script])


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "its program was killed; perhaps the machine ran out of memory"),
        ("import os; os.kill(os.getpid(), 15)", "its program was ended by SIGTERM"),
        (
            "open('result.json', 'w').write('{\"error\": \"a worker of Spark died\"}'); raise SystemExit(1)",
            "a worker of Spark died",
        ),
    ],
)
def test_a_program_that_dies_is_started_four_times_and_no_more(
    job: Job, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    playing(monkeypatch, script)
    ends = []
    for _ in range(4):
        launcher.run(job.id, worker="w")
        job.refresh_from_db()
        ends.append((job.state, job.state_reason, job.next_try_at and moment(job.next_try_at)))
        # As if its time had come
        Job.objects.filter(pk=job.pk).update(next_try_at=None)
    assert ends == [
        (JobState.QUEUED, f"attempt {number} of 4, starts at {at}; the last one ended because {reason}", at)
        for number, (_, _, at) in enumerate(ends[:3], 2)
    ] + [(JobState.FAILED, f"{reason}; this happened 4 times", None)]
    # A retry by a user allows the same number of tries again
    services.retry(ANN, job)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.QUEUED, 5)


@pytest.mark.parametrize(("status", "code"), [(2, StateCode.REQUEST_REFUSED), (5, StateCode.MESSAGES_GONE)])
def test_what_will_not_change_is_not_tried_again(
    job: Job, monkeypatch: pytest.MonkeyPatch, status: int, code: StateCode
) -> None:
    playing(monkeypatch, f"raise SystemExit({status})")
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.exit_code, job.state_code) == (JobState.FAILED, status, code)


def test_what_the_program_says_of_its_end_tells_more_than_its_status(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, "open('result.json', 'w').write('{\"cause\": \"no_java\"}'); raise SystemExit(2)")
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code) == (JobState.FAILED, StateCode.NO_JAVA)


def test_what_a_program_has_read_that_told_nothing_is_not_known(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, "raise SystemExit(2)")
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    unknown = dict.fromkeys(("planned", "read", "filtered", "damaged", "matched"))
    assert job.counters == {**unknown, "written": 0, "failed": 0, "unknown": 0, "skipped": 0, "bytes": 0}
    # What an earlier run told stays
    told = {**job.counters, "planned": 9, "read": 4, "written": 3}
    Job.objects.update(counters=told)
    services.retry(ANN, job)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.counters) == (JobState.FAILED, told)


# A program that ignores signals, with a worker in its own process group, as Spark has.
_DEAF = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0)
os.mkdir("tmp")
open("worker.pid", "w").write(str(worker.pid))
time.sleep(600)
"""


def test_a_program_that_does_not_hear_is_killed_with_all_its_workers(
    job: Job, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, _DEAF)
    monkeypatch.setattr(launcher, "CANCEL_GRACE_SECONDS", 0.1)
    pid = place / "jobs" / job.id / "worker.pid"
    looking = launcher._JobRun._check_and_renew

    def hold_on(run: launcher._JobRun) -> None:
        if pid.is_file() and pid.read_text():
            Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(
                cancel_requested=True, state_reason="cancelled by ann"
            )
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", hold_on)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (JobState.CANCELLED, "cancelled by ann; messages already written stay")
    assert not (pid.parent / "tmp").exists()
    worker = int(pid.read_text())
    wait_until(lambda: has_ended(worker))


def has_ended(pid: int) -> bool:
    """Return whether a process has ended or is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_program_does_not_inherit_secrets_and_its_files_are_its_users_alone(
    job: Job, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GANTRY_ADMIN_PASSWORD", "hunter2")
    monkeypatch.setenv("GANTRY_REDIS_URL", "redis://:hunter2@redis/0")
    monkeypatch.setenv("ANYTHING_ELSE", "hunter2")
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    playing(
        monkeypatch,
        "import json, os; open('report.json', 'w').write(json.dumps(dict(os.environ))); os.makedirs('a/b')",
    )
    was = os.umask(0)
    try:
        launcher.run(job.id, worker="w")
    finally:
        os.umask(was)
    folder = place / "jobs" / job.id
    seen = json.loads((folder / "report.json").read_text())
    assert "hunter2" not in str(seen)
    assert seen["JAVA_HOME"] == "/opt/java"
    assert seen["PATH"] == os.environ["PATH"]
    for path in (folder.parent, folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_process_that_only_has_the_same_number_is_not_ended(job: Job) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    job.pid, job.pid_started, job.host = child.pid, 1, socket.gethostname()
    assert not launcher.end_orphan(job)
    assert child.poll() is None
    child.kill()
    child.wait()
