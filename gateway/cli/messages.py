"""Commands that find and show messages, and send one again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click
import msgspec

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session

_MOST_MATCHES: Final = 1_000
_COLUMNS = ["message_id", "broker", "queue_id", "queue_offset", "keys", "tag", "stored_at", "size_bytes"]


@gantry.group()
def messages() -> None:
    """Find, browse and show messages, and send one again."""


@messages.command()
@click.argument("topic")
@click.argument("key")
@click.option("--from", "start", help="Stored at this time or later.")
@click.option("--to", "end", help="Stored before this time.")
@pass_session
def search(session: Session, topic: str, key: str, start: str | None, end: str | None) -> None:
    """Find the messages of a topic that have a key; exit code 1 if there is none, or not all could be searched."""
    answer = session.api.get("messages:search", topic=topic, key=key, **{"from": start, "to": end})
    session.out.rows(answer["items"], _COLUMNS)
    for missing in answer["missing"]:
        click.echo(f"gantry: {missing['broker']} was not searched: {missing['reason']}", err=True)
    if answer["verdict"] != "match" or not answer["complete"]:
        raise SystemExit(1)


@messages.command()
@click.argument("topic")
@click.option("--from", "start", help="Stored at this time or later.")
@click.option("--to", "end", help="Stored before this time.")
@click.option("--queue", type=click.IntRange(0), help="Only this queue.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@pass_session
def browse(session: Session, topic: str, start: str | None, end: str | None, queue: int | None, limit: int) -> None:
    """List messages of a topic, newest first; exit code 1 if a broker did not answer."""
    query = {"from": start, "to": end, "queue": queue}
    missing: dict[str, str] = {}

    def found() -> Iterator[Any]:
        for page in session.api.pages(f"topics/{part(topic)}/messages", limit=limit, **query):
            missing.update((each["broker"], each["reason"]) for each in page["missing"])
            yield from page["items"]

    session.out.rows(found(), _COLUMNS)
    for broker, reason in missing.items():
        click.echo(f"gantry: {broker} may have more: {reason}", err=True)
    if missing:
        raise SystemExit(1)


@messages.command()
@click.argument("topic")
@click.option("--from", "start", help="Stored at this time or later.")
@click.option("--to", "end", help="Stored before this time.")
@click.option("--tag", "tags", multiple=True, help="One of these; may be repeated.")
@click.option("--text", help="A part of the body.")
@click.option("--sql", help="What this SQL92 expression over properties selects, such as 'amount > 100'.")
@click.option("--where", "conditions", multiple=True, metavar="PATH=VALUE", help="A field of the JSON body ($.id=A17).")
@click.option("--limit", type=click.IntRange(1), help="End after so many matches; all by default.")
@click.option("--bodies", is_flag=True, help="With body and properties.")
@pass_session
def scan(session: Session, /, topic: str, conditions: tuple[str, ...], limit: int | None, **wishes: Any) -> None:
    """Read a topic backwards and print every message that fulfils all conditions, a line of JSON each."""
    names = {"start": "from", "end": "to"}
    body = {names.get(name, name): value for name, value in wishes.items() if value not in (None, (), False)}
    body["fields"] = list(map(field_of, conditions))
    left = limit
    while left is None or left > 0:
        size = _MOST_MATCHES if left is None else min(left, _MOST_MATCHES)
        page = session.api.post(f"topics/{part(topic)}/messages:scan", {**body, "limit": size})
        for item in page["items"]:
            session.out.json(item)
        for missing in page["missing"]:
            click.echo(f"gantry: {missing['broker']} was not read: {missing['reason']}", err=True)
        left = None if left is None else left - len(page["items"])
        if page["next_cursor"] is None:
            raise SystemExit(1 if page["missing"] else 0)
        body["cursor"] = page["next_cursor"]


def field_of(text: str) -> dict[str, Any]:
    """Return PATH=VALUE as a condition; a value that is JSON is that value, and any other is text."""
    path, equals, value = text.partition("=")
    if not path or not equals:
        raise click.BadParameter(f"{text!r} is not PATH=VALUE", param_hint="--where")
    try:
        return {"path": path, "operator": "eq", "value": msgspec.json.decode(value)}
    except msgspec.DecodeError:
        return {"path": path, "operator": "eq", "value": value}


@messages.command()
@click.argument("topic")
@click.argument("message_id")
@pass_session
def show(session: Session, topic: str, message_id: str) -> None:
    """Show one message with its properties and its body."""
    session.out.one(session.api.get(f"messages/{part(message_id)}", topic=topic))


@messages.command()
@click.argument("topic")
@click.argument("message_id")
@click.option("--trace-topic", help="Where the clients trace to, if not RMQ_SYS_TRACE_TOPIC.")
@pass_session
def trace(session: Session, topic: str, message_id: str, trace_topic: str | None) -> None:
    """Show what clients traced of a message; exit code 1 if nothing, or not all could be searched."""
    query = {"topic": topic, "trace_topic": trace_topic}
    answer = session.api.get(f"messages/{part(message_id)}/trace", **query)
    session.out.one(answer)
    for missing in answer["missing"]:
        click.echo(f"gantry: {missing['broker']} was not searched: {missing['reason']}", err=True)
    if answer["state"] != "traced" or not answer["complete"]:
        raise SystemExit(1)


@messages.command()
@click.argument("topic")
@click.argument("message_id")
@click.option("--to", "target", help="Another topic than that of the original, or of the dead letter's origin.")
@pass_session
def resend(session: Session, topic: str, message_id: str, target: str | None) -> None:
    """Send a stored message again, as a copy that says where it comes from."""
    body = {"topic": topic} | ({"target_topic": target} if target else {})
    sent = session.api.post(f"messages/{part(message_id)}:resend", body)
    session.out.done(sent, f"Sent to {sent['topic']}, queue {sent['queue_id']}, offset {sent['offset']}.")
