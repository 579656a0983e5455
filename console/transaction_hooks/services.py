"""Changes of transaction hooks, each written to the audit, and the outcomes that the gateway keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from django.db import close_old_connections, transaction
from django.db.models import QuerySet
from django.utils import timezone

from console.alerts.channels import keep_former, origin_of, secrets_of
from console.audit.record import Actor, record
from console.clusters.models import Cluster
from console.errors import AlreadyExists, Conflict
from console.rows import unless_taken
from console.transaction_hooks.models import TransactionHook
from console.transaction_hooks.shapes import HookOutcome

MAX_HOOKS: Final = 50
"""Hooks of one cluster."""


@dataclass(frozen=True, slots=True)
class ActiveHook:
    """What is needed to ask a hook."""

    id: str
    cluster: str
    group: str
    url: str
    secrets: tuple[str, ...]


def hooks_of(cluster: str) -> QuerySet[TransactionHook]:
    """Return the hooks of a cluster."""
    return TransactionHook.objects.filter(cluster__name=cluster)


def add(by: Actor, cluster: str, fields: Mapping[str, Any]) -> TransactionHook:
    """Add a hook; raise AlreadyExists if its group has one, Conflict at the limit."""
    rows, group = hooks_of(cluster), fields["group"]
    with unless_taken(rows.filter(group=group), AlreadyExists(f"Producer group {group!r} has a hook already.")):
        if rows.count() >= MAX_HOOKS:
            raise Conflict(
                f"The cluster has {MAX_HOOKS} transaction hooks, and more are not allowed; delete one first."
            )
        hook = TransactionHook.objects.create(cluster=Cluster.objects.get(name=cluster), **fields)
        record(by, "transaction_hook.create", _resource(cluster, hook), after=_shown(hook))
    return hook


def change(by: Actor, cluster: str, hook: TransactionHook, fields: Mapping[str, Any]) -> TransactionHook:
    """Change these fields; a secret that another one replaces goes on signing for `secret_overlap_ms`."""
    before = _shown(hook)
    with transaction.atomic():
        keep_former(hook, fields)
        for field in fields.keys() - {"secret_overlap_ms"}:
            setattr(hook, field, fields[field])
        # What came of checks is written by the gateway meanwhile.
        hook.save(update_fields=["enabled", "url", "secret", "former_secret", "former_secret_until"])
        record(by, "transaction_hook.update", _resource(cluster, hook), before=before, after=_shown(hook))
    return hook


@transaction.atomic
def remove(by: Actor, cluster: str, hook: TransactionHook) -> None:
    """Delete a hook; the gateway leaves the producer group within seconds."""
    record(by, "transaction_hook.delete", _resource(cluster, hook), before=_shown(hook))
    hook.delete()


def active() -> list[ActiveHook]:
    """Return the hooks that are to be asked now, with the secrets that sign now."""
    close_old_connections()
    now = timezone.now()
    rows = TransactionHook.objects.filter(enabled=True).select_related("cluster")
    return [ActiveHook(row.pk, row.cluster.name, row.group, row.url, secrets_of(row, now)) for row in rows]


def keep_outcomes(last: Mapping[str, HookOutcome], failures: Mapping[str, HookOutcome]) -> None:
    """Write what came of checks, by the id of the hook; one that was deleted meanwhile is left out."""
    close_old_connections()
    for column, outcomes in (("last", last), ("last_failure", failures)):
        for hook_id, outcome in outcomes.items():
            TransactionHook.objects.filter(pk=hook_id).update(**{column: msgspec.to_builtins(outcome)})


def _resource(cluster: str, hook: TransactionHook) -> str:
    return f"{cluster}/transaction-hooks/{hook.group}"


def _shown(hook: TransactionHook) -> dict[str, Any]:
    until = hook.former_secret_until
    return {
        "group": hook.group,
        "enabled": hook.enabled,
        "target": origin_of(hook.url),
        "has_secret": bool(hook.secret),
        "former_secret_until": None if until is None else until.isoformat(),
    }
