"""Commands on topics and clusters."""

from __future__ import annotations

import click

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session


@gantry.command()
@pass_session
def clusters(session: Session) -> None:
    """List the clusters that the console knows."""
    columns = ["name", "kind", "name_servers", "brokers", "version", "reachable", "reason"]
    session.out.rows(session.api.items("/clusters"), columns)


@gantry.group()
def topics() -> None:
    """List, show, create, change and delete topics."""


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
