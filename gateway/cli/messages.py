"""Commands that find and show messages, and send one again."""

from __future__ import annotations

from typing import Any, Final

import click
import msgspec

from gateway.cli.api import part
from gateway.cli.gaps import Gaps, tell_slave
from gateway.cli.output import Table
from gateway.cli.root import Session, gantry, pass_session

_MOST_MATCHES: Final = 1_000
_COLUMNS = ["message_id", "broker", "queue_id", "queue_offset", "keys", "tag", "stored_at", "size_bytes"]
_UNTRACED: Final = {
    "none": "no client traced this message",
    "no_topic": "there is no such trace topic, so nothing is traced",
    "unknown": "whether it was traced is not known",
}


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
    """Find the messages of a topic that have a key; exit code 1 if there is none, or not all could be searched.

    Searches the last three days unless --from and --to say otherwise.
    """
    gaps, found, is_whole, span = Gaps("was not searched"), 0, True, ""
    query: dict[str, Any] = {"topic": topic, "key": key, "from": start, "to": end}
    table = Table(session.out, _COLUMNS)
    for page in session.api.pages("messages:search", **query):
        gaps.note(page)
        table.add(page["items"])
        found += len(page["items"])
        is_whole = is_whole and page["complete"]
        span = f"from {page['searched']['from']} to {page['searched']['to']}"
    if not is_whole and not gaps:
        gaps.add("some messages may be missing: the search was too large; say a shorter time with --from and --to")
    if not found:
        gaps.add(f"no message of {topic} with the key {key!r} was found {span}")
    gaps.tell()


@messages.command()
@click.argument("topic")
@click.option("--from", "start", help="Stored at this time or later.")
@click.option("--to", "end", help="Stored before this time.")
@click.option("--queue", type=click.IntRange(0), help="Only this queue.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@pass_session
def browse(session: Session, topic: str, start: str | None, end: str | None, queue: int | None, limit: int) -> None:
    """List messages of a topic, newest first; exit code 1 if some may be missing."""
    gaps = Gaps("may have more")
    query = {"from": start, "to": end, "queue": queue}
    session.out.rows(gaps.noted(session.api.pages(f"topics/{part(topic)}/messages", limit=limit, **query)), _COLUMNS)
    gaps.tell()


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
    gaps, left = Gaps("was not read"), limit
    while left is None or left > 0:
        size = _MOST_MATCHES if left is None else min(left, _MOST_MATCHES)
        page = session.api.post(f"topics/{part(topic)}/messages:scan", {**body, "limit": size})
        gaps.note(page)
        for item in page["items"]:
            session.out.json(item)
        left = None if left is None else left - len(page["items"])
        if page["next_cursor"] is None:
            break
        body["cursor"] = page["next_cursor"]
    gaps.tell()


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
    found = session.api.get(f"messages/{part(message_id)}", topic=topic)
    session.out.one(found)
    tell_slave(found["from_slave"])


@messages.command()
@click.argument("topic")
@click.argument("message_id")
@click.option("--trace-topic", help="Where the clients trace to, if not RMQ_SYS_TRACE_TOPIC.")
@pass_session
def trace(session: Session, topic: str, message_id: str, trace_topic: str | None) -> None:
    """Show what clients traced of a message; exit code 1 if nothing, or not all could be searched."""
    query = {"topic": topic, "trace_topic": trace_topic}
    answer = session.api.get(f"messages/{part(message_id)}/trace", **query)
    gaps = Gaps("was not searched")
    gaps.note(answer)
    session.out.one(answer)
    if not answer["complete"] and not gaps:
        gaps.add("there is more than is told: of very many traces the first are read")
    if answer["state"] != "traced":
        gaps.add(_UNTRACED[answer["state"]])
    gaps.tell()


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
