"""Follows topics: prints messages as they are stored, without consuming anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click
import msgspec
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from gateway.cli.api import Refused, Unreachable
from gateway.cli.exact import decode
from gateway.cli.messages import field_of
from gateway.cli.root import Session, gantry, pass_session

_OPEN_S: Final = 5.0
_LARGEST_FRAME: Final = 16 * 1024 * 1024


@gantry.command()
@click.argument("topics", nargs=-1, required=True)
@click.option("--from", "start", default="now", show_default=True, help="Or a time: what was stored since then first.")
@click.option("--tag", "tags", multiple=True, help="One of these; may be repeated.")
@click.option("--text", help="A part of the body.")
@click.option("--where", "conditions", multiple=True, metavar="PATH=VALUE", help="A field of the JSON body ($.id=A17).")
@click.option("--max-rate", type=click.IntRange(1, 1000), default=50, show_default=True, help="Messages a second.")
@click.option("--max", "most", type=click.IntRange(1), help="End after so many messages.")
@pass_session
def tail(
    session: Session,
    /,
    topics: tuple[str, ...],
    start: str,
    conditions: tuple[str, ...],
    max_rate: int,
    most: int | None,
    **wishes: Any,
) -> None:
    """Print messages of TOPICS as they are stored, a line of JSON each, until Ctrl-C.

    Nothing is consumed and no offset moves. Messages that are left out, and topics that cannot be read, are told on
    stderr.
    """
    chosen = {name: value for name, value in wishes.items() if value}
    chosen["fields"] = list(map(field_of, conditions))
    wanted = {"type": "start", "cluster": session.api.cluster, "topics": topics, "from": start, "max_rate": max_rate}
    shown = 0
    for frame in _frames(session, {**wanted, "filter": chosen}):
        if frame["type"] == "message":
            session.out.json({name: value for name, value in frame.items() if name != "type"})
            shown += 1
            if shown == most:
                return
        elif sentence := _sentence(frame):
            click.echo(f"gantry: {sentence}", err=True)


def _frames(session: Session, start: Mapping[str, Any]) -> Any:
    """Yield the frames of a tail; raises Refused for a problem, Unreachable when the connection is lost."""
    url, headers = session.api.socket("tail")
    try:
        with connect(
            url, additional_headers=headers, open_timeout=_OPEN_S, proxy=None, max_size=_LARGEST_FRAME
        ) as socket:
            socket.send(msgspec.json.encode(start).decode())
            yield from _received(socket)
    except ConnectionClosed as error:
        raise Unreachable(f"{url} closed the connection: {error}") from error
    except (OSError, WebSocketException) as error:
        raise Unreachable(f"{url} does not answer: {error}") from error


def _received(socket: ClientConnection) -> Any:
    for text in socket:
        frame = decode(text)
        if frame["type"] == "error":
            problem = frame["problem"]
            raise Refused({"title": problem.get("code", "error"), **problem}, problem["status"])
        yield frame


def _sentence(frame: Mapping[str, Any]) -> str | None:
    """Return what a frame means that is not a message; None for what needs no words."""
    if frame["type"] == "dropped":
        return f"{frame['n']} messages were left out ({frame['reason']})"
    if frame["type"] == "unknown" and frame["reason"] is not None:
        return f"{frame['topic']} on {frame['broker'] or 'every broker'} cannot be read: {frame['reason']}"
    return None
