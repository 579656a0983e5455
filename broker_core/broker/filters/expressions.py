"""Filter expressions of subscriptions, by their kind: tags or SQL92 (broker/README.md#filters)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import BadSubscription, FilterUnsupported
from broker_core.broker.filters.tags import accept_codes, accept_expression
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.sql92 import IllegalExpression, compile_sql92
from broker_core.store.fetch import Accept, PropertyTest

_TAG: Final = "TAG"
_SQL92: Final = "SQL92"


def accept_of(kind: str | None, expression: str | None, *, serves_sql: bool) -> Accept:
    """Return the test of an expression; raise FilterUnsupported for a kind that is not served, BadSubscription for what
    is no expression."""
    if (kind or _TAG) == _TAG:
        return Accept(accept_expression(expression))
    if kind != _SQL92 or not serves_sql:
        raise FilterUnsupported(kind)
    try:
        compiled = compile_sql92(expression or "")
    except IllegalExpression as error:
        raise BadSubscription(f"parse the consumer's subscription failed: {error}") from error
    return Accept(None, PropertyTest(compiled.names, compiled.test, compiled.program))


def accept_of_subscription(subscription: SubscriptionData, *, serves_sql: bool) -> Accept:
    """Return the test of what a heartbeat subscribes to: for tags their hashes; raises as `accept_of`."""
    if (subscription.expression_type or _TAG) == _TAG:
        return Accept(accept_codes(subscription.code_set))
    return accept_of(subscription.expression_type, subscription.sub_string, serves_sql=serves_sql)
