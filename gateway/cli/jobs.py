"""Commands on jobs: replay, reconciliation, export and redrive."""

from __future__ import annotations

import time
from typing import IO, Final

import click
import msgspec

from gateway.cli.api import Json, part
from gateway.cli.root import Session, gantry, pass_session

_OVER: Final = frozenset({"succeeded", "partial", "failed", "cancelled"})
_POLL_S: Final = 1.0


@gantry.group()
def jobs() -> None:
    """Start, watch, pause, cancel and repeat jobs."""


@jobs.command("list")
@click.option("--state", help="queued, running, succeeded, failed …")
@click.option("--type", "kind", help="replay, reconcile, export or redrive.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@pass_session
def list_jobs(session: Session, state: str | None, kind: str | None, limit: int) -> None:
    """List jobs, newest first."""
    columns = ["id", "type", "name", "state", "created_at", "finished_at"]
    session.out.rows(session.api.items("/jobs", limit=limit, state=state, type=kind), columns)


@jobs.command()
@pass_session
def workers(session: Session) -> None:
    """Show the workers, what waits for them, and how many jobs of yours run and wait."""
    found = session.api.get("/job-workers")
    if session.out.is_json:
        session.out.json(found)
        return
    yours = found["yours"]
    click.echo(f"waiting: {found['queued']} of at most {found['most_queued']}")
    running = f"{yours['running']} of at most {yours['most_running']} running"
    click.echo(f"yours: {running}, {yours['queued']} of at most {yours['most_queued']} waiting")
    items = [{**each, "runs": [run["job_id"] for run in each["runs"]]} for each in found["items"]]
    session.out.rows(items, ["name", "host", "pid", "is_alive", "heard_at", "runs", "hidden_runs"])


@jobs.command()
@click.argument("job")
@pass_session
def show(session: Session, job: str) -> None:
    """Show one job with its progress."""
    session.out.one(session.api.get(f"/jobs/{part(job)}"))


@jobs.command()
@click.argument("request", type=click.File("rb"))
@click.option("--wait", is_flag=True, help="Wait for its end; exit code 1 unless it succeeded.")
@pass_session
def start(session: Session, request: IO[bytes], wait: bool) -> None:
    """Start a job; REQUEST is a file with the JSON that the API takes, or - for stdin."""
    job = session.api.post("/jobs", read_request(request))
    if wait:
        job = ended(session, job)
    session.out.one(job)
    if wait and job["state"] != "succeeded":
        raise SystemExit(1)


def read_request(file: IO[bytes]) -> Json:
    """Return the JSON of a file; raise BadParameter for what is none."""
    try:
        return msgspec.json.decode(file.read())
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"is not JSON: {error}", param_hint="REQUEST") from error


def ended(session: Session, job: Json) -> Json:
    """Wait for the end of a job and return it as it is then."""
    while job["state"] not in _OVER:
        time.sleep(_POLL_S)
        job = session.api.get(f"/jobs/{part(job['id'])}")
    return job


@jobs.command()
@click.argument("job")
@pass_session
def cancel(session: Session, job: str) -> None:
    """Cancel a job."""
    session.out.done(session.api.post(f"/jobs/{part(job)}:cancel"), f"Job {job} is being cancelled.")


@jobs.command()
@click.argument("job")
@pass_session
def pause(session: Session, job: str) -> None:
    """Pause a job that waits or runs."""
    session.out.done(session.api.post(f"/jobs/{part(job)}:pause"), f"Job {job} is being paused.")


@jobs.command()
@click.argument("job")
@pass_session
def resume(session: Session, job: str) -> None:
    """Let a paused job go on from where it stopped."""
    session.out.done(session.api.post(f"/jobs/{part(job)}:resume"), f"Job {job} goes on.")


@jobs.command()
@click.argument("job")
@pass_session
def retry(session: Session, job: str) -> None:
    """Run a job that failed or was cancelled again, from where it stopped."""
    again = session.api.post(f"/jobs/{part(job)}:retry")
    session.out.done(again, f"Job {again['id']} goes on.")


@jobs.command()
@click.argument("job")
@pass_session
def log(session: Session, job: str) -> None:
    """Print the log of a job."""
    offset = 0
    while True:
        page = session.api.get(f"/jobs/{part(job)}/log", offset=offset)
        click.echo(page["text"], nl=False)
        if page["next_offset"] == offset:
            return
        offset = page["next_offset"]
