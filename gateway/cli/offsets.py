"""Commands on the offsets of a group: see what a change would do, make it, take it back."""

from __future__ import annotations

from typing import Any

import click

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session

_COLUMNS = ["broker", "queue_id", "current", "new", "delta", "min", "max", "warning"]


@gantry.group()
def offsets() -> None:
    """Preview, apply and undo a change of a group's offsets."""


@offsets.command()
@click.argument("group")
@click.argument("topic")
@click.option("--time", help="To the first message stored at this time or later (2026-11-23T08:00:00Z).")
@click.option("--earliest", is_flag=True, help="To the first message that is left.")
@click.option("--latest", is_flag=True, help="Behind the last message.")
@click.option("--offset", type=click.IntRange(0), help="To this offset in every queue.")
@click.option("--shift", type=int, help="By so many messages; negative: back.")
@click.option("--from-group", help="To where another group is.")
@click.option("--queue", "queues", multiple=True, metavar="BROKER/ID", help="Only this queue; may be repeated.")
@pass_session
def preview(session: Session, /, group: str, topic: str, queues: tuple[str, ...], **wishes: Any) -> None:
    """Show what a change would do, queue by queue; nothing is changed. It prints the plan to apply."""
    body = {"topic": topic, **_wish(wishes)}
    if queues:
        body["queues"] = [_queue(each) for each in queues]
    plan = session.api.post(f"groups/{part(group)}/offsets:preview", body)
    if session.out.is_json:
        session.out.json(plan)
        return
    session.out.rows(plan["queues"], _COLUMNS)
    click.echo(f"\n{plan['to_replay']} messages again, {plan['skipped']} skipped, {plan['members']} members connected.")
    click.echo(f"Until {plan['expires_at']}: gantry offsets apply {group} {plan['plan_id']}")


@offsets.command()
@click.argument("group")
@click.argument("plan")
@click.option("--strict", is_flag=True, help="Refuse if the group has moved since the preview.")
@pass_session
def apply(session: Session, group: str, plan: str, strict: bool) -> None:
    """Move a group as a plan says."""
    moved = session.api.post(f"groups/{part(group)}/offsets:apply", {"plan_id": plan, "strict": strict})
    session.out.done(moved, f"Moved. To take it back: gantry offsets undo {group} {moved['snapshot_id']}")


@offsets.command()
@click.argument("group")
@click.argument("snapshot")
@pass_session
def undo(session: Session, group: str, snapshot: str) -> None:
    """Move a group back to where it was before a change."""
    moved = session.api.post(f"groups/{part(group)}/offsets:undo", {"snapshot_id": snapshot})
    session.out.done(moved, "Moved back.")


@offsets.command()
@click.argument("group")
@pass_session
def snapshots(session: Session, group: str) -> None:
    """List the changes of a group's offsets, newest first."""
    columns = ["snapshot_id", "created_at", "created_by", "topic", "mode", "undone_at"]
    session.out.rows(session.api.get(f"groups/{part(group)}/offsets/snapshots")["items"], columns)


def _wish(wishes: dict[str, Any]) -> dict[str, Any]:
    """Return mode and value; raise UsageError unless exactly one was given."""
    given = {name: value for name, value in wishes.items() if value not in (None, False)}
    if len(given) != 1:
        raise click.UsageError("Say where to: one of --time, --earliest, --latest, --offset, --shift, --from-group.")
    name, value = given.popitem()
    if value is True:
        return {"mode": name}
    return {"mode": "copy_from" if name == "from_group" else name, name: value}


def _queue(text: str) -> dict[str, Any]:
    broker, slash, number = text.rpartition("/")
    if not slash or not (number.isascii() and number.isdecimal()):
        raise click.BadParameter(f"{text!r} is not BROKER/ID", param_hint="--queue")
    return {"broker": broker, "queue_id": int(number)}
