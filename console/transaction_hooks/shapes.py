"""JSON shapes of transaction hooks."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.alerts.channels import origin_of
from console.etags import etag
from console.fields import moment
from console.moments import Moment
from console.transaction_hooks.models import TransactionHook

HookDecision = Literal["commit", "rollback", "unknown"]


@decoded
class HookOutcome(Struct, frozen=True, kw_only=True):
    """What came of one check."""

    at: Moment
    decision: Annotated[HookDecision, Meta(description="`unknown`: the broker asks again later.")]
    failure: Annotated[
        str | None, Meta(description="Why nothing was decided, or why the broker did not take the decision; else null.")
    ]
    status: Annotated[int | None, Meta(description="Of HTTP; null without an answer.")]
    took_ms: int
    message_id: str
    topic: str
    checks: Annotated[int, Meta(description="The how manyth check of the transaction it was.")]


class TransactionHookState(Struct, frozen=True, kw_only=True):
    """Where checks of a producer group are posted. The path of the URL and the secret are never shown."""

    id: str
    group: Annotated[str, Meta(description="The producer group.")]
    enabled: bool
    target: str
    has_secret: bool
    former_secret_until: Annotated[
        Moment | None,
        Meta(description="Until when bodies are signed by the former secret too; null: there is none."),
    ]
    created_at: Moment
    last: Annotated[HookOutcome | None, Meta(description="The last check; null: there was none.")]
    last_failure: Annotated[HookOutcome | None, Meta(description="The last check that decided nothing.")]
    etag: Annotated[str, Meta(description="For If-Match.")]


def shape_of(hook: TransactionHook) -> TransactionHookState:
    """Return the shape of a hook."""
    until = hook.former_secret_until
    return TransactionHookState(
        id=hook.pk,
        group=hook.group,
        enabled=hook.enabled,
        target=origin_of(hook.url),
        has_secret=bool(hook.secret),
        former_secret_until=None if until is None else moment(until),
        created_at=moment(hook.created_at),
        last=msgspec.convert(hook.last, HookOutcome | None),
        last_failure=msgspec.convert(hook.last_failure, HookOutcome | None),
        etag=hook_tag(hook),
    )


def hook_tag(hook: TransactionHook) -> str:
    """Return the tag of the fields that a PATCH can change."""
    return etag([hook.pk, hook.enabled, hook.url, hook.secret])
