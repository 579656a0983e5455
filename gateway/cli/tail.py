"""Follows topics: prints messages as they are stored, without consuming anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gateway.cli.frames import frames
from gateway.cli.messages import field_of
from gateway.cli.root import Session, gantry, pass_session


@gantry.command()
@click.argument("topics", nargs=-1, required=True)
@click.option("--from", "start", default="now", show_default=True, help="Or a time: what was stored since then first.")
@click.option("--tag", "tags", multiple=True, help="One of these; may be repeated.")
@click.option("--text", help="A part of the body.")
@click.option("--sql", help="What this SQL92 expression over properties selects, such as 'amount > 100'.")
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
    for frame in frames(session, "tail", {**wanted, "filter": chosen}):
        if frame["type"] == "message":
            session.out.json({name: value for name, value in frame.items() if name != "type"})
            shown += 1
            if shown == most:
                return
        elif sentence := _sentence(frame):
            click.echo(f"gantry: {sentence}", err=True)


def _sentence(frame: Mapping[str, Any]) -> str | None:
    """Return what a frame means that is not a message; None for what needs no words."""
    if frame["type"] == "dropped":
        return f"{frame['n']} messages were left out ({frame['reason']})"
    if frame["type"] == "unknown" and frame["reason"] is not None:
        return f"{frame['topic']} on {frame['broker'] or 'every broker'} cannot be read: {frame['reason']}"
    return None
