"""Commands on brokers and their replicas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session


@gantry.group(invoke_without_command=True)
@click.pass_context
def brokers(context: click.Context) -> None:
    """List brokers, masters and slaves, also without `list`; list the replicas of one."""
    if context.invoked_subcommand is None:
        context.invoke(list_brokers)


@brokers.command("list")
@pass_session
def list_brokers(session: Session) -> None:
    """List the processes of all brokers, masters (id 0) and slaves; what is not known is a dash.

    `replica_id` is what controllers know a process by, where they choose the master. One that is `held` takes no part
    by itself any more; `reason` says why, and what to do.
    """
    columns = [
        "name",
        "broker_id",
        "replica_id",
        "address",
        "reachable",
        "version",
        "in_rate",
        "out_rate",
        "behind_bytes",
        "held=held.code",
        "reason",
    ]
    session.out.rows(session.api.get("overview")["brokers"], columns)


@brokers.command()
@click.argument("broker")
@pass_session
def replicas(session: Session, broker: str) -> None:
    """List the processes of one broker name with what they lack.

    Exit code 1 if one of them or a name server does not answer, if one takes no part by itself any more, or if no
    messages are taken; stderr says why.
    """
    columns = [
        "broker_id",
        "role",
        "address",
        "reachable",
        "in_sync=failover.in_sync",
        "held=held.code",
        "log_end",
        "behind_bytes",
        "behind_ms",
        "started_at",
    ]
    found = session.api.get(f"brokers/{part(broker)}/replicas")
    session.out.rows(found["replicas"], columns)
    wrong = list(_what_is_wrong(found))
    for each in wrong:
        click.echo(f"gantry: {each}", err=True)
    if wrong:
        raise SystemExit(1)


def _what_is_wrong(found: dict[str, Any]) -> Iterator[str]:
    """Tell what an operator has to know before believing the list."""
    for each in found["replicas"]:
        if not each["reachable"]:
            yield f"{each['broker_id']} is not known: {each['reason']}"
    for each in found["replicas"]:
        if (held := each.get("held")) is not None:
            more = "" if not held["more_bytes"] else f"; its log has {held['more_bytes']} bytes that the master lacks"
            yield f"{each['broker_id']} takes no part: {held['reason']}{more}; {held['advice']}"
    for each in found["silent_name_servers"]:
        yield f"name server {each['address']} does not answer: {each['reason']}"
    now = found["told"] or found["failover"] or {}
    if now.get("writable") is False:
        stored = now["writable_reason"].startswith("sends are stored")
        yield now["writable_reason"] if stored else f"no messages are taken: {now['writable_reason']}"
