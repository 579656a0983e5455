"""Sends messages: one text, the lines of a file, or a whole file."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, Final

import click
import msgspec

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session

_AT_ONCE: Final = 100


@gantry.command()
@click.argument("topic")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--body", help="One message with this text, instead of a file.")
@click.option("--whole", is_flag=True, help="The file is one message; otherwise each line is one.")
@click.option("--key", "keys", multiple=True, help="May be repeated.")
@click.option("--tag")
@click.option("--property", "properties", multiple=True, metavar="NAME=VALUE", help="May be repeated.")
@click.option("--ordering-key", help="Messages with the same one go to the same queue.")
@click.option("--delay-ms", type=click.IntRange(0))
@pass_session
def produce(
    session: Session,
    /,
    topic: str,
    file: IO[bytes] | None,
    body: str | None,
    whole: bool,
    properties: tuple[str, ...],
    **fields: Any,
) -> None:
    """Send messages and print where each was stored; FILE may be - for stdin.

    A line that is JSON is sent as JSON. Exit code 1 if a message was not stored; those before it are.
    """
    if (file is None) == (body is None):
        raise click.UsageError("Give either a FILE or --body.")
    shared = {name: value for name, value in fields.items() if value not in (None, ())}
    if properties:
        shared["properties"] = dict(map(_pair, properties))
    bodies = [body.encode()] if body is not None else _bodies(file, whole=whole)
    results = list(_send(session, topic, shared, bodies))
    session.out.rows(results, ["status", "message_id", "queue_id", "offset", "stored_at", "problem.detail"])
    if any(result["status"] != "stored" for result in results):
        raise SystemExit(1)


def _send(session: Session, topic: str, shared: Mapping[str, Any], bodies: Iterable[bytes]) -> Iterator[Any]:
    """Yield the result of each message."""
    rest = iter(bodies)
    while some := list(islice(rest, _AT_ONCE)):
        entries = [{**shared, "body": _body(each)} for each in some]
        yield from session.api.post(f"topics/{part(topic)}/messages", {"messages": entries})["results"]


def _bodies(file: IO[bytes] | None, *, whole: bool) -> Iterator[bytes]:
    assert file is not None
    if whole:
        yield file.read()
        return
    for line in file:
        if text := line.rstrip(b"\r\n"):
            yield text


def _body(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"encoding": "base64", "data": base64.b64encode(data).decode()}
    try:
        msgspec.json.decode(data)
    except msgspec.DecodeError:
        return {"encoding": "text", "data": text}
    # As it was written: numbers keep their digits.
    return {"encoding": "json", "data": msgspec.Raw(data)}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--property")
    return name, value
