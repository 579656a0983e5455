"""Commands on transactions: half messages that are open or were given up."""

from __future__ import annotations

from typing import Any

import click

from gateway.cli.api import part
from gateway.cli.gaps import Gaps
from gateway.cli.output import Table
from gateway.cli.root import Session, gantry, pass_session

_PAGE = 500
_COLUMNS = ["message_id", "topic", "group", "keys", "prepared_at", "checks", "producer_connected", "transaction_id"]


@gantry.group()
def transactions() -> None:
    """List and show transactions; commit one, roll it back, or have its producers asked again."""


@transactions.command("list")
@click.option("--state", type=click.Choice(["open", "given_up"]), default="open", show_default=True)
@click.option("--topic", help="Only those for this topic.")
@click.option("--group", help="Only those of this producer group.")
@click.option("--key", help="Only those with this key or message id.")
@click.option("--limit", type=click.IntRange(1), help="At most this many; all by default.")
@pass_session
def list_transactions(session: Session, /, limit: int | None, **chosen: Any) -> None:
    """List open transactions, the oldest first; exit code 1 if a broker was not asked, or not to its end."""
    table, left, cursor = Table(session.out, _COLUMNS), limit, None
    gaps = Gaps("may have more")
    while True:
        size = min(_PAGE, left or _PAGE)
        page = session.api.get("transactions", limit=size, cursor=cursor, **chosen)
        table.add(page["items"])
        gaps.note(page)
        for broker in page["partial"]:
            gaps.add(f"{broker} may have more: not all of it can be read")
        left, cursor = None if left is None else left - len(page["items"]), page["next_cursor"]
        if cursor is None or left == 0:
            break
    gaps.tell()


@transactions.command()
@click.argument("transaction_id")
@pass_session
def show(session: Session, transaction_id: str) -> None:
    """Show one transaction with its message."""
    session.out.one(session.api.get(f"transactions/{part(transaction_id)}"))


@transactions.command()
@click.argument("transaction_id")
@click.option("--reason", help="For the audit.")
@pass_session
def commit(session: Session, transaction_id: str, reason: str | None) -> None:
    """Commit a transaction: its message is delivered; doing it again succeeds."""
    _decide(session, transaction_id, "commit", reason)


@transactions.command()
@click.argument("transaction_id")
@click.option("--reason", help="For the audit.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def rollback(session: Session, transaction_id: str, reason: str | None, yes: bool) -> None:
    """Roll a transaction back: its message is never delivered; doing it again succeeds."""
    if not yes:
        click.confirm("Roll the transaction back, so that its message is never delivered?", abort=True, err=True)
    _decide(session, transaction_id, "rollback", reason)


@transactions.command()
@click.argument("transaction_id")
@pass_session
def check(session: Session, transaction_id: str) -> None:
    """Have the producers of a transaction asked again, from the first check on."""
    answer = session.api.post(f"transactions/{part(transaction_id)}:check")
    later = "" if answer["producer_connected"] else ", once one of them is connected"
    session.out.done(answer, f"Broker {answer['broker']} asks the producers of {answer['group']} again{later}.")


def _decide(session: Session, transaction_id: str, verb: str, reason: str | None) -> None:
    body = {} if reason is None else {"reason": reason}
    answer = session.api.post(f"transactions/{part(transaction_id)}:{verb}", body)
    done = answer["decision"].replace("_", " ")
    session.out.done(answer, f"The transaction of message {answer['message_id']} for {answer['topic']} was {done}.")
