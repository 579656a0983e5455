"""Commands on alerts and their rules."""

from __future__ import annotations

from typing import Any

import click

from gateway.cli.api import part
from gateway.cli.root import Session, gantry, pass_session


@gantry.group()
def alerts() -> None:
    """List and acknowledge alerts, and list their rules."""


@alerts.command("list")
@click.option("--state", help="open (the default), firing, pending, no_data, acknowledged, silenced or resolved.")
@click.option("--subject", help="Only of this group, topic or broker.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@pass_session
def list_alerts(session: Session, state: str | None, subject: str | None, limit: int) -> None:
    """List the alerts of every cluster; exit code 1 if one of them is firing."""
    found = list(session.api.items("/alerts", limit=limit, state=state, subject=subject))
    # A resolved one is not measured any more: what is left is its value at the end.
    value = "value" if state == "resolved" else "value_now"
    columns = ["id", "state=shown", "severity=rule.severity", "rule=rule.name", "cluster", "subject", value, "since"]
    session.out.rows(found, columns)
    if any(alert["shown"] == "firing" for alert in found):
        raise SystemExit(1)


@alerts.command()
@pass_session
def rules(session: Session) -> None:
    """List the rules."""
    columns = ["id", "name", "enabled", "metric", "cluster", "subject", "direction", "limit", "for_ms", "severity"]
    session.out.rows(session.api.items("/alert-rules"), columns)


@alerts.command()
@click.argument("alert")
@click.option("--note", default="", help="Why; it is shown beside the alert.")
@click.option("--until", help="Until this time; otherwise until it is resolved.")
@pass_session
def acknowledge(session: Session, alert: str, note: str, until: str | None) -> None:
    """Say that somebody looks after an alert: it is not told again."""
    body: dict[str, Any] = {"note": note} | ({"until": until} if until else {})
    session.out.done(session.api.post(f"/alerts/{part(alert)}:acknowledge", body), f"Alert {alert} is acknowledged.")
