"""Sends messages: one text, the lines of a file, or a whole file."""

from __future__ import annotations

import base64
import select
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Final, TypeAlias

import click
import msgspec

from gateway.cli.api import Refused, Unreachable, part
from gateway.cli.output import Table
from gateway.cli.root import Session, gantry, pass_session

_AT_ONCE: Final = 100
_AT_ONCE_BYTES: Final = 256 * 1024
_SIGNAL_SECONDS: Final = 0.5

_Line: TypeAlias = tuple[int, bytes]
"""A line of the input and its number, from 1; blank ones count, and are not sent."""


@gantry.command()
@click.argument("topic")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--body", help="One message with this text, instead of a file.")
@click.option("--whole", is_flag=True, help="The file is one message; otherwise each line is one.")
@click.option("--key", "keys", multiple=True, help="May be repeated.")
@click.option("--tag")
@click.option("--property", "properties", multiple=True, metavar="NAME=VALUE", help="May be repeated.")
@click.option("--ordering-key", help="Messages with the same one go to the same queue.")
@click.option("--delay-ms", type=click.IntRange(0), help="Deliver so long after it was sent.")
@click.option("--deliver-at", help="Deliver at this time (RFC 3339, 2030-01-31T08:00:00Z), instead of --delay-ms.")
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

    A line that is JSON is sent as JSON. Lines are sent as they come, up to a hundred at once, and told when they are
    stored; with --json, entry_id is the number of the line. Exit code 1 if a message was not stored; those before
    it are. While no broker takes messages, sending ends, and stderr says after which line.
    """
    if (file is None) == (body is None):
        raise click.UsageError("Give either a FILE or --body.")
    is_delayed = fields["delay_ms"] is not None
    if is_delayed and fields["deliver_at"] is not None:
        raise click.UsageError("Give either --delay-ms or --deliver-at.")
    shared = {name: value for name, value in fields.items() if value not in (None, ())}
    if properties:
        shared["properties"] = dict(map(_pair, properties))
    if file is None:
        portions: Iterable[list[_Line]] = [[(1, (body or "").encode())]]
    else:
        portions = [[(1, file.read())]] if whole else _portions(file)
    # A message that waits has no queue and no offset yet.
    place = ["deliver_at"] if is_delayed or fields["deliver_at"] else ["broker", "queue_id", "offset"]
    table = Table(session.out, ["status", "message_id", *place, "stored_at", "problem.detail"])
    is_whole = True
    for results in _send(session, topic, shared, portions, lines=file is not None and not whole):
        table.add(results)
        is_whole = is_whole and all(result["status"] == "stored" for result in results)
    if not is_whole:
        raise SystemExit(1)


def _send(
    session: Session, topic: str, shared: Mapping[str, Any], portions: Iterable[list[_Line]], *, lines: bool
) -> Iterator[list[Any]]:
    """Yield the results of each request."""
    for some in portions:
        entries = [{**shared, "entry_id": str(number), "body": _body(text)} for number, text in some]
        try:
            yield session.api.post(f"topics/{part(topic)}/messages", {"messages": entries})["results"]
        except Refused as error:
            if not error.is_away:
                raise
            yield [_not_told(entry["entry_id"], error) for entry in entries]
            if lines:
                click.echo(f"gantry: lines after {some[-1][0]} were not sent", err=True)
            return
        except Unreachable:
            if lines:
                told = f"whether lines {some[0][0]} to {some[-1][0]} were stored is not known; later ones were not sent"
                click.echo(f"gantry: {told}", err=True)
            raise


def _not_told(entry_id: str, error: Refused) -> dict[str, Any]:
    """Return the result of a message whose request failed as a whole."""
    status = "unknown" if error.is_uncertain else "failed"
    return {
        "entry_id": entry_id,
        "status": status,
        "problem": {"code": error.code, "status": error.status, "detail": error.detail},
    }


def _portions(file: IO[bytes]) -> Iterator[list[_Line]]:
    """Yield the lines that have come, without waiting for more."""
    rest, count = b"", 0
    while some := _arrived(file):
        *lines, rest = (rest + some).split(b"\n")
        yield from _few(lines, count)
        count += len(lines)
    yield from _few([rest], count)


def _arrived(file: IO[bytes]) -> bytes:
    # A Ctrl-C right before a read starts does not end the read, and the next line may never come.
    while not select.select([file], [], [], _SIGNAL_SECONDS)[0]:
        pass
    some: bytes = file.read1(_AT_ONCE_BYTES)  # type: ignore[attr-defined] # every binary file has it, but for raw ones
    return some


def _few(lines: list[bytes], before: int) -> Iterator[list[_Line]]:
    numbered = [(number, text) for number, line in enumerate(lines, before + 1) if (text := line.rstrip(b"\r"))]
    for start in range(0, len(numbered), _AT_ONCE):
        yield numbered[start : start + _AT_ONCE]


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
