"""Commands on messages that wait for their delivery time."""

from __future__ import annotations

from typing import Any, Final

import click

from gateway.cli.api import part
from gateway.cli.exact import decode
from gateway.cli.gaps import Gaps
from gateway.cli.output import Table
from gateway.cli.root import Session, gantry, pass_session

_PAGE: Final = 500
_COLUMNS: Final = ["message_id", "topic", "due_at", "keys", "tag", "stored_at", "body_bytes"]


@gantry.group()
def scheduled() -> None:
    """List messages that wait for their delivery time, and recall them."""


@scheduled.command("list")
@click.option("--topic", help="Only those for this topic.")
@click.option("--key", help="Only those with this key or message id.")
@click.option("--from", "start", help="Due at this time or later.")
@click.option("--to", "end", help="Due before this time.")
@click.option("--limit", type=click.IntRange(1), help="At most this many; all by default.")
@pass_session
def list_scheduled(session: Session, /, start: str | None, end: str | None, limit: int | None, **chosen: Any) -> None:
    """List messages that wait, first those that are due first; exit code 1 if a broker could not be asked."""
    query = {**chosen, "from": start, "to": end}
    table, left, gaps = Table(session.out, _COLUMNS), limit, Gaps("was not asked")
    while True:
        page = session.api.get("scheduled", limit=min(_PAGE, left or _PAGE), **query)
        table.add(page["items"])
        gaps.note(page)
        left = None if left is None else left - len(page["items"])
        query["cursor"] = page["next_cursor"]
        if query["cursor"] is None or left == 0:
            break
    gaps.tell()


@scheduled.command()
@click.argument("message_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def recall(session: Session, message_id: str, yes: bool) -> None:
    """Recall a message that waits: it is never delivered."""
    if not yes:
        click.confirm(f"Recall message {message_id}, so that it is never delivered?", abort=True, err=True)
    answer = decode(session.api.call("DELETE", f"scheduled/{part(message_id)}").content)
    session.out.done(answer, f"Message {message_id} of {answer['topic']} was recalled.")
