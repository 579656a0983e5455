"""Commands on dead letters: look at them, and send them again."""

from __future__ import annotations

from typing import Any, Final

import click

from gateway.cli.api import Json, part
from gateway.cli.gaps import Gaps
from gateway.cli.jobs import ended
from gateway.cli.root import Session, gantry, pass_session

_COLUMNS: Final = ["message_id", "origin_topic", "cause", "keys", "tag", "stored_at", "reconsume_times"]


@gantry.group("dead-letters")
def dead_letters() -> None:
    """List dead letters by group and cause, and send them again."""


@dead_letters.command("list")
@pass_session
def list_groups(session: Session) -> None:
    """List the groups that have dead letters; exit code 1 if figures of one are not known."""
    columns = ["name", "messages", "first_at", "last_at", "causes", "top_cause=top_cause.reason", "retries_waiting"]
    found = list(session.api.items("dead-letters"))
    session.out.rows(found, columns)
    gaps = Gaps("was not read")
    for each in found:
        gaps.note(each)
        if each["unknown_reason"] is not None:
            gaps.add(f"not everything of {each['name']} is known: {each['unknown_reason']}")
    gaps.tell()


@dead_letters.command()
@click.argument("group")
@pass_session
def causes(session: Session, group: str) -> None:
    """Count the newest dead letters of a group by cause; - stands for none given.

    Exit code 1 if a broker that may have some was not read.
    """
    found = session.api.get(f"dead-letters/{part(group)}/causes")
    session.out.rows(found["items"], ["reason", "count", "topics", "first_at", "last_at", "last_message_id"])
    if not found["complete"]:
        _tell_incomplete(found, "counted")
    gaps = Gaps("was not read")
    gaps.note(found)
    gaps.tell()


@dead_letters.command()
@click.argument("group")
@click.option("--cause", help="Only those given up for this reason.")
@click.option("--topic", help="Only those that came from this topic.")
@click.option("--key", help="Only those with this key.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@pass_session
def messages(session: Session, /, group: str, limit: int, **chosen: Any) -> None:
    """List the dead letters of a group, newest first; exit code 1 if a broker that may have some was not read."""
    gaps = Gaps("may have more")
    pages = session.api.pages(f"dead-letters/{part(group)}/messages", limit=limit, **chosen)
    session.out.rows(gaps.noted(pages), _COLUMNS)
    gaps.tell()


@dead_letters.command()
@click.argument("group")
@click.option("--cause", "causes", multiple=True, help="Only those given up for this reason; may be repeated.")
@click.option("--topic", "topics", multiple=True, help="Only those that came from this topic; may be repeated.")
@click.option("--key", help="Only those with this key.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--to", "target", default="failed_group", show_default=True, help="failed_group, origin, or a topic.")
@click.option("--allow-live-target", is_flag=True, help="Also where other groups will see the copies.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--wait", is_flag=True, help="Wait for its end; exit code 1 unless all were sent.")
@pass_session
def redrive(
    session: Session,
    /,
    group: str,
    target: str,
    allow_live_target: bool,
    dry_run: bool,
    yes: bool,
    wait: bool,
    **chosen: Any,
) -> None:
    """Send copies of dead letters again, in a job; before it, say what it would send, and ask."""
    path = f"dead-letters/{part(group)}:redrive"
    body = {"filter": _filter(**chosen), "target": _target(target), "allow_live_target": allow_live_target}
    preview = session.api.post(path, {**body, "dry_run": True})
    if preview["warning"]:
        click.echo(f"gantry: {preview['warning']}", err=True)
    if not preview["complete"]:
        _tell_incomplete(preview, "read")
    for each in preview["missing"]:
        click.echo(f"gantry: {each['broker']} was not read: {each['reason']}", err=True)
    if dry_run and session.out.is_json:
        session.out.json(preview)
        return
    if dry_run:
        click.echo(f"Would send {_what(preview)}." if preview["messages"] else _nothing(preview))
        session.out.rows(preview["first"], _COLUMNS)
        return
    if not preview["messages"] and preview["complete"]:
        raise click.ClickException(_nothing(preview))
    if preview["needs_allow_live_target"] and not allow_live_target:
        names = [each["name"] for each in preview["groups"] if not each["failed"]]
        hidden = [f"{preview['hidden_groups']} that this token may not read"] if preview["hidden_groups"] else []
        who = ", ".join([*names, *hidden])
        raise click.ClickException(f"other groups will see the copies too: {who}. Add --allow-live-target if they may.")
    if not yes:
        click.confirm(f"Send {_what(preview)}?", abort=True, err=True)
    job = session.api.post(path, body)
    if wait:
        job = ended(session, job)
    session.out.one(job)
    if wait and job["state"] != "succeeded":
        raise SystemExit(1)


def _filter(causes: tuple[str, ...], topics: tuple[str, ...], key: str | None, everything: bool) -> dict[str, Any]:
    """Return the filter of the API; raise UsageError unless something was chosen, or everything."""
    wanted = {"causes": list(causes), "topics": list(topics), "key": key}
    given = {name: value for name, value in wanted.items() if value}
    if bool(given) == everything:
        raise click.UsageError("Say which: --cause, --topic, --key, or --all of them.")
    return given


def _target(name: str) -> dict[str, str]:
    return {"to": name} if name in ("failed_group", "origin") else {"to": "other", "topic": name}


def _tell_incomplete(found: Json, what: str) -> None:
    click.echo(f"gantry: {found['read']} of {found['stored'] or 'an unknown number'} were {what}", err=True)


def _what(preview: Json) -> str:
    topics = ", ".join(topic["topic"] for topic in preview["topics"]) or "no topic"
    left_out = f"; {_sent_before(str(preview['skipped']), preview)}" if preview["skipped"] else ""
    return f"{_count(preview['messages'])} to {topics} ({preview['failing']} will fail{left_out})"


def _nothing(preview: Json) -> str:
    why = _sent_before(_count(preview["skipped"]), preview) if preview["skipped"] else "no dead letter is chosen"
    return f"Nothing to send: {why}."


def _sent_before(what: str, preview: Json) -> str:
    return f"{what} {'was' if preview['skipped'] == 1 else 'were'} sent again before"


def _count(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages} messages"
