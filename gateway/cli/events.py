"""What happens in a cluster: its kept events, and each new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from gateway.cli.frames import frames
from gateway.cli.root import Session, gantry, pass_session

_COLUMNS: Final = [
    "seen_at", "kind", "group", "topic", "broker", "client=client.client_id", "alert=alert.rule",
    "alert_of=alert.subject", "source", "by", "reason",
]  # fmt: skip


@gantry.command()
@click.option("--kind", help="One or several kinds, with commas between, such as client_joined,client_left.")
@click.option("--topic", help="Only what is about this topic.")
@click.option("--group", help="Only what is about this group.")
@click.option("--limit", type=click.IntRange(1), help="At most this many; all that are kept by default.")
@click.option("--follow", is_flag=True, help="Print each new event as a line of JSON, until Ctrl-C.")
@pass_session
def events(
    session: Session, kind: str | None, topic: str | None, group: str | None, limit: int | None, follow: bool
) -> None:
    """List what happened in the cluster, the newest first; with --follow print what happens from now on."""
    if not follow:
        found = session.api.items("events", limit=limit, kind=kind, topic=topic, group=group)
        session.out.rows(found, _COLUMNS)
        return
    # Refuses a kind that there is not, and says where to go on.
    last = session.api.get("events", kind=kind, limit=1)["last_seq"]
    subject = f"activity:{session.api.cluster}"
    kinds = frozenset(filter(None, (kind or "").split(",")))
    shown = 0
    for frame in frames(session, "events", {"type": "subscribe", "subjects": [subject], "after": {subject: last}}):
        if frame["type"] == "denied":
            raise click.ClickException("the events of this cluster may not be read with this token")
        if frame["type"] not in ("state", "events"):
            continue
        if not frame["data"]["complete"]:
            click.echo("gantry: some events were lost", err=True)
        for event in frame["data"]["items"]:
            if _is_wanted(event, kinds, topic, group):
                session.out.json(event)
                shown += 1
                if shown == limit:
                    return


def _is_wanted(event: Mapping[str, Any], kinds: frozenset[str], topic: str | None, group: str | None) -> bool:
    if (kinds and event["kind"] not in kinds) or (group is not None and event["group"] != group):
        return False
    return topic is None or event["topic"] == topic or any(move["topic"] == topic for move in event["moves"])
