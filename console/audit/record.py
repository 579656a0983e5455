"""Writing the audit: services call `record` for every change that they make or fail to make; views never do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.utils import timezone

from console.audit.models import AuditRecord

Result = Literal["ok", "refused", "failed", "partial"]


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor of a change: a user or a part of the system, with the token's name and key, request and address."""

    name: str
    user_id: int | None = None
    token: str | None = None
    request_id: str = ""
    address: str = ""
    token_key: str = ""

    @classmethod
    def system(cls, part: str) -> Actor:
        """Return the actor for automatic changes of a part of Gantry, e.g. ``system:scheduler``."""
        return cls(name=f"system:{part}")


def record(
    by: Actor,
    action: str,
    resource: str,
    *,
    result: Result = "ok",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Append one record; inside a transaction it is committed or rolled back together with the change.

    `action` is ``noun.verb`` (``topic.create``); `resource` is a path of names (``local/topics/orders``). `before` and
    `after` must not contain secrets.
    """
    AuditRecord.objects.create(
        at=timezone.now(),
        actor=by.name,
        token=by.token,
        action=action,
        resource=resource[:400],
        result=result,
        request_id=by.request_id[:64],
        address=by.address[:64],
        before=None if before is None else dict(before),
        after=None if after is None else dict(after),
    )
