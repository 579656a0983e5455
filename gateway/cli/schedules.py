"""Commands on schedules, which start jobs at set times."""

from __future__ import annotations

from typing import IO, Any

import click

from gateway.cli.api import part
from gateway.cli.jobs import ended, read_request
from gateway.cli.root import Session, gantry, pass_session


@gantry.group()
def schedules() -> None:
    """List, create, pause and run schedules."""


@schedules.command("list")
@pass_session
def list_schedules(session: Session) -> None:
    """List the schedules with their next times."""
    columns = ["id", "name", "enabled", "cron", "zone", "next_run_at", "last_run_at", "last_state"]
    session.out.rows(session.api.items("/schedules"), columns)


@schedules.command()
@click.argument("schedule")
@pass_session
def show(session: Session, schedule: str) -> None:
    """Show one schedule with its job."""
    session.out.one(session.api.get(f"/schedules/{part(schedule)}"))


@schedules.command()
@click.argument("request", type=click.File("rb"))
@pass_session
def create(session: Session, request: IO[bytes]) -> None:
    """Create a schedule; REQUEST is a file with the JSON that the API takes, or - for stdin."""
    session.out.one(session.api.post("/schedules", read_request(request)))


@schedules.command()
@click.argument("schedule")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@pass_session
def runs(session: Session, schedule: str, limit: int) -> None:
    """List what became of the times of a schedule, the newest first."""
    columns = ["outcome", "scheduled_for", "times", "reason", "job_id", "job.state", "created_at"]
    session.out.rows(session.api.items(f"/schedules/{part(schedule)}/runs", limit=limit), columns)


@schedules.command()
@click.argument("schedule")
@click.option("--wait", is_flag=True, help="Wait for the end of the job; exit code 1 unless it succeeded.")
@pass_session
def run(session: Session, schedule: str, wait: bool) -> None:
    """Start the job of a schedule now."""
    job = session.api.post(f"/schedules/{part(schedule)}:run_now")
    if wait:
        job = ended(session, job)
    session.out.one(job)
    if wait and job["state"] != "succeeded":
        raise SystemExit(1)


@schedules.command()
@click.argument("schedule")
@click.option("--reason", default="", help="Why; it is shown until the schedule is resumed.")
@pass_session
def pause(session: Session, schedule: str, reason: str) -> None:
    """Start no more jobs of a schedule."""
    change: dict[str, Any] = {"enabled": False} | ({"stopped_reason": reason} if reason else {})
    session.out.done(session.api.change("PATCH", f"/schedules/{part(schedule)}", change), f"{schedule} is paused.")


@schedules.command()
@click.argument("schedule")
@pass_session
def resume(session: Session, schedule: str) -> None:
    """Let a schedule start jobs again, by your rights."""
    change = {"enabled": True}
    session.out.done(session.api.change("PATCH", f"/schedules/{part(schedule)}", change), f"{schedule} is resumed.")


@schedules.command()
@click.argument("schedule")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, schedule: str, yes: bool) -> None:
    """Delete a schedule; its jobs stay."""
    path = f"/schedules/{part(schedule)}"
    if not yes:
        click.confirm(f"Delete the schedule {session.api.get(path)['name']!r}?", abort=True, err=True)
    session.out.done(session.api.change("DELETE", path), f"{schedule} is deleted.")
