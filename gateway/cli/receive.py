"""Consumes messages by lease: print them, then acknowledge them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from uuid import uuid4

import click

from gateway.cli.api import Refused, Unreachable, part
from gateway.cli.gaps import Gaps
from gateway.cli.root import Session, gantry, pass_session

_AT_ONCE: Final = 32
_WAIT_MS: Final = 20_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0  # s


@gantry.command()
@click.argument("group")
@click.argument("topic")
@click.option("--max", "most", type=click.IntRange(1), help="End after so many messages.")
@click.option("--follow", is_flag=True, help="Wait for more until Ctrl-C; otherwise end when there are none.")
@click.option("--tag", help="Only these tags, such as 'created || paid'.")
@click.option("--sql", help="Only what this SQL92 expression over properties selects, such as 'amount > 100'.")
@click.option("--keep", is_flag=True, help="Do not acknowledge: they are delivered again after --lease-ms.")
@click.option("--lease-ms", type=click.IntRange(1_000, 43_200_000), default=30_000, show_default=True)
@pass_session
def consume(
    session: Session,
    group: str,
    topic: str,
    most: int | None,
    follow: bool,
    tag: str | None,
    sql: str | None,
    keep: bool,
    lease_ms: int,
) -> None:
    """Receive messages of a group, print each as a line of JSON, and acknowledge what was printed.

    Exit code 1 if a broker that may have more was not asked. With --follow it waits for gateway and brokers that are
    away.
    """
    path = f"groups/{part(group)}/topics/{part(topic)}"
    asked: dict[str, Any] = {"wait_ms": _WAIT_MS if follow else 1000, "lease_ms": lease_ms}
    if tag and sql:
        raise click.UsageError("A filter is by --tag or by --sql, not by both; TAGS is a property in SQL.")
    if tag or sql:
        asked["filter"] = {"type": "tag" if tag else "sql", "expression": tag or sql}
    post = partial(_when_back, session) if follow else session.api.post
    left = most
    while left is None or left > 0:
        size = _AT_ONCE if left is None else min(_AT_ONCE, left)
        # By its name the gateway knows an attempt that is made again, and returns the same leases.
        name = {"attempt_id": uuid4().hex} if follow else {}
        answer = post(f"{path}:receive", {**asked, **name, "max_messages": size})
        received = answer["messages"]
        if not received and not follow:
            gaps = Gaps("may have more")
            gaps.note(answer)
            gaps.tell()
            return
        for message in received:
            session.out.json(message)
        if received and not keep:
            post(f"{path}:ack", {"receipts": [message["receipt"] for message in received]})
        left = None if left is None else left - len(received)


def _when_back(session: Session, path: str, body: Mapping[str, Any]) -> Any:
    """Return the answer to a POST; while gateway or brokers are away, say so once and ask again."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return session.api.post(path, body)
        except (Refused, Unreachable) as error:
            if isinstance(error, Refused) and not error.is_away:
                raise
            if pause == _FIRST_PAUSE:
                click.echo(f"gantry: {error}; waiting", err=True)
        time.sleep(pause)
        pause = min(_LONGEST_PAUSE, 2 * pause)
