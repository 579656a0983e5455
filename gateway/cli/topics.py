"""Commands on topics and clusters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import click

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session


@gantry.group(invoke_without_command=True)
@click.pass_context
def clusters(context: click.Context) -> None:
    """List the clusters that the console knows, also without `list`."""
    if context.invoked_subcommand is None:
        context.invoke(list_clusters)


@clusters.command("list")
@pass_session
def list_clusters(session: Session) -> None:
    """List the clusters that the console knows."""
    columns = ["name", "kind", "name_servers", "brokers", "version", "reachable", "reason"]
    session.out.rows(session.api.items("/clusters"), columns)


@gantry.group()
def topics() -> None:
    """List, show, create and delete topics; show the statistics of one."""


@topics.command("list")
@click.option("--search", help="A part of the name, a pattern with * and ?, or letters in order (~oeu).")
@click.option("--kind", help="normal, retry, dlq, system or all.")
@click.option("--limit", type=click.IntRange(1), help="At most this many; all by default.")
@pass_session
def list_topics(session: Session, search: str | None, kind: str | None, limit: int | None) -> None:
    """List topics with messages, rate and lag; what is not known is a dash."""
    columns = ["name", "kind", "messages", "in_rate", "groups", "max_lag", "permission", "last_stored_at"]
    session.out.rows(session.api.items("topics", limit=limit, search=search, kind=kind), columns)


@topics.command()
@click.argument("topic")
@pass_session
def show(session: Session, topic: str) -> None:
    """Show one topic, and its queues."""
    session.out.one(session.api.get(f"topics/{part(topic)}"))


@topics.command()
@click.argument("topic")
@pass_session
def queues(session: Session, topic: str) -> None:
    """List the queues of a topic with their offsets."""
    columns = ["broker", "queue_id", "min_offset", "max_offset", "last_stored_at"]
    session.out.rows(session.api.get(f"topics/{part(topic)}/queues")["items"], columns)


@topics.command()
@click.argument("topic")
@click.option("--from", "start", help="A time of the last day; a day before --to by default.")
@click.option("--to", "end", help="A time; now by default.")
@click.option("--step", type=click.Choice(["1m", "5m", "15m", "1h"]), default="1h", show_default=True)
@click.option("--totals", is_flag=True, help="Only the sums and peaks of the time.")
@pass_session
def stats(session: Session, topic: str, start: str | None, end: str | None, step: str, totals: bool) -> None:
    """Show a topic's rates, messages and lag over a day; what nobody measured is a dash."""
    found = session.api.get(f"topics/{part(topic)}/stats", **{"from": start, "to": end, "step": step})
    if totals:
        session.out.one(found["totals"])
    else:
        session.out.rows(_steps(found), ["from", "in_rate", "out_rate", "messages", "size_bytes", "max_lag"])


def _steps(stats: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps of a history, each with the moment at which it begins and its value of every series."""
    begin, step = datetime.fromisoformat(stats["from"]), timedelta(milliseconds=stats["step_ms"])
    for number, values in enumerate(zip(*stats["series"].values(), strict=True)):
        moment = (begin + number * step).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        yield {"from": moment, **dict(zip(stats["series"], values, strict=True))}


@topics.command()
@click.argument("topic")
@click.option("--queues", type=click.IntRange(1), default=8, show_default=True, help="On each broker.")
@pass_session
def create(session: Session, topic: str, queues: int) -> None:
    """Create a topic on every broker."""
    answer = session.api.post("topics", {"name": topic, "read_queues": queues, "write_queues": queues})
    session.out.done(answer, f"Topic {topic} was created.")


@topics.command()
@click.argument("topic")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, topic: str, yes: bool) -> None:
    """Delete a topic and its messages."""
    if not yes:
        click.confirm(f"Delete topic {topic} and all its messages?", abort=True, err=True)
    session.out.done(session.api.change("DELETE", f"topics/{part(topic)}"), f"Topic {topic} was deleted.")
