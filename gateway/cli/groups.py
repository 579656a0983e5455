"""Commands on consumer groups."""

from __future__ import annotations

import time
from typing import Final

import click

from gateway.cli.api import part
from gateway.cli.gaps import Gaps
from gateway.cli.root import Session, gantry, pass_session

_TURNS: Final = 3


@gantry.group()
def groups() -> None:
    """List, show, create, pause, resume and delete consumer groups."""


@groups.command("list")
@click.option("--search", help="A part of the name, a pattern with * and ?, or letters in order (~oeu).")
@click.option("--sort", help="A field of the answer, such as -lag for the largest lag first.")
@click.option("--limit", type=click.IntRange(1), help="At most this many; all by default.")
@pass_session
def list_groups(session: Session, search: str | None, sort: str | None, limit: int | None) -> None:
    """List groups with their lag; what is not known is a dash."""
    columns = ["name", "state", "delivery", "mode", "lag", "time_lag_ms", "out_rate", "drain_eta_ms", "clients"]
    session.out.rows(session.api.items("groups", limit=limit, search=search, sort=sort), columns)


@groups.command()
@click.argument("group")
@pass_session
def show(session: Session, group: str) -> None:
    """Show one group."""
    session.out.one(session.api.get(f"groups/{part(group)}"))


@groups.command()
@click.argument("group")
@pass_session
def lag(session: Session, group: str) -> None:
    """List the queues of a group with offset and lag; exit code 1 if its lag is not known."""
    columns = ["topic", "broker", "queue_id", "group_offset", "broker_offset", "lag", "time_lag_ms", "client"]
    path = f"groups/{part(group)}"
    found = session.api.get(path)
    for _ in range(_TURNS):
        if found["lag"] is not None or any(each["lag"] is not None for each in found["queues"]):
            break
        # A group that has just begun is measured within a second or two.
        time.sleep(1)
        found = session.api.get(path)
    if found["queues"]:
        session.out.rows(found["queues"], columns)
    if found["lag"] is not None:
        return
    reason = found["unknown_reason"] or "nobody measured it yet"
    raise click.ClickException(f"the lag of {group} is not known: {reason}")


@groups.command()
@click.argument("group")
@pass_session
def clients(session: Session, group: str) -> None:
    """List who consumes: native clients, and callers that receive by lease; exit code 1 if there may be more."""
    columns = ["client_id", "protocol", "address", "language", "version", "queues"]
    found = session.api.get(f"groups/{part(group)}/clients")
    session.out.rows(found["items"], columns)
    gaps = Gaps("may have more")
    gaps.note(found)
    if not found["callers_known"]:
        gaps.add("who receives by lease is not known: Redis does not answer")
    gaps.tell()


@groups.command()
@click.argument("group")
@pass_session
def create(session: Session, group: str) -> None:
    """Create a group on every broker."""
    session.out.done(session.api.post("groups", {"name": group}), f"Group {group} was created.")


@groups.command()
@click.argument("group")
@pass_session
def pause(session: Session, group: str) -> None:
    """Stop the delivery to a group; what its clients hold can still be settled."""
    session.out.done(session.api.post(f"groups/{part(group)}:pause"), f"Group {group} is paused.")


@groups.command()
@click.argument("group")
@pass_session
def resume(session: Session, group: str) -> None:
    """Deliver to a group again, from where it stopped."""
    session.out.done(session.api.post(f"groups/{part(group)}:resume"), f"Group {group} is delivered to again.")


@groups.command()
@click.argument("group")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, group: str, yes: bool) -> None:
    """Delete a group and its offsets."""
    if not yes:
        click.confirm(f"Delete group {group} and its offsets?", abort=True, err=True)
    session.out.done(session.api.change("DELETE", f"groups/{part(group)}"), f"Group {group} was deleted.")
