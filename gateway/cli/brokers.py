"""Commands on brokers and their replicas."""

from __future__ import annotations

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

    `replica_id` is what controllers know a process by, where they choose the master.
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
        "reason",
    ]
    session.out.rows(session.api.get("overview")["brokers"], columns)


@brokers.command()
@click.argument("broker")
@pass_session
def replicas(session: Session, broker: str) -> None:
    """List the processes of one broker name with what they lack; exit code 1 if one does not answer."""
    columns = ["broker_id", "role", "address", "reachable", "log_end", "behind_bytes", "behind_ms", "started_at"]
    found = session.api.get(f"brokers/{part(broker)}/replicas")["replicas"]
    session.out.rows(found, columns)
    silent = [each for each in found if not each["reachable"]]
    for each in silent:
        click.echo(f"gantry: {each['broker_id']} is not known: {each['reason']}", err=True)
    if silent:
        raise SystemExit(1)
