"""The fields that requests of administrators may have.

A signature covers the values of all fields, joined in the order of their names, without the request's code and without
what lies between two values. In fields that no handler reads, a signature that was made for another request would find
room for what is left of that one's values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from broker_core.broker.errors import AccessRefused
from broker_core.protocol.command import Command
from broker_core.protocol.fields import code_of, wire_names
from broker_core.protocol.headers import admin, groups, pop, topics, transactions
from broker_core.protocol.signature import ACCESS_KEY, SIGNATURE

_SHOWN: Final = 80
_SIGNED: Final = frozenset({ACCESS_KEY, SIGNATURE})
_HEADERS: Final = (
    admin.UpdateBrokerConfigRequest,
    admin.CreateAccessConfigRequest,
    admin.DeleteAccessConfigRequest,
    admin.UpdateGlobalWhiteAddrsRequest,
    admin.GetBrokerAccessConfigRequest,
    groups.CreateSubscriptionGroupRequest,
    groups.CreateSubscriptionGroupListRequest,
    groups.DeleteSubscriptionGroupRequest,
    pop.SetMessageRequestModeRequest,
    topics.CreateTopicRequest,
    topics.CreateTopicListRequest,
    topics.DeleteTopicRequest,
    topics.CleanExpiredConsumeQueueRequest,
    topics.CleanUnusedTopicRequest,
    topics.DeleteExpiredCommitLogRequest,
    topics.PurgeTopicRequest,
    transactions.ResumeCheckHalfMessageRequest,
)
FIELDS: Final[Mapping[int, frozenset[str]]] = {
    code_of(kind): frozenset(wire_names(kind).values()) | _SIGNED for kind in _HEADERS
}
"""The names of the fields of each such request, those of its signature among them."""


def check_fields(request: Command) -> None:
    """Raise AccessRefused if a request of administrators has a field that it does not define."""
    known = FIELDS.get(request.code)
    if known is None or request.ext_fields.keys() <= known:
        return
    other = min(request.ext_fields.keys() - known)
    raise AccessRefused(
        f"The field {other[:_SHOWN]!r} is not one of request code={request.code}: with access control, what changes "
        "the broker is taken without fields of other requests"
    )
