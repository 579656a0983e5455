"""Handing a stored message to one client of a group, outside its queues: what the client makes of it is the answer."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import BrokerRefused
from broker_core.errors import GantryError
from broker_core.protocol.bodies.running import ConsumeMessageDirectlyResult, ConsumeResult
from broker_core.protocol.codes import ResponseCode
from console.accounts.permissions import actor_of, needs, require
from console.accounts.rights import Resource
from console.audit.record import record
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Conflict
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, topic_of_body
from gateway.control.group_members import reasons_of, require_member
from gateway.control.messages import found_message
from gateway.problems import TIMED_OUT, ProblemError

Verdict = Literal["success", "later", "rollback", "commit", "exception", "nothing", "unknown"]
_RESULTS: Final[dict[ConsumeResult | None, Verdict]] = {
    ConsumeResult.CR_SUCCESS: "success",
    ConsumeResult.CR_LATER: "later",
    ConsumeResult.CR_ROLLBACK: "rollback",
    ConsumeResult.CR_COMMIT: "commit",
    ConsumeResult.CR_THROW_EXCEPTION: "exception",
    ConsumeResult.CR_RETURN_NULL: "nothing",
    None: "unknown",
}


class Delivered(Struct, frozen=True, kw_only=True):
    """What a client made of a message. No offset moved, and a failure is not tried again."""

    group: str
    client_id: str
    result: Annotated[
        Verdict,
        Meta(description="later: it wants it again; exception: its code failed; unknown: it did not say."),
    ]
    remark: Annotated[str | None, Meta(description="What the client says, such as the text of the exception.")]
    spent_ms: int
    in_order: Annotated[bool, Meta(description="Whether the client handles messages in order.")]


class DeliverSerializer(serializers.Serializer[Any]):
    """The message's topic, the group, and one of its clients."""

    topic = serializers.CharField(max_length=255)
    group = serializers.CharField(max_length=255)
    client_id = serializers.CharField(
        max_length=1_000, required=False, help_text="A native client of the group; by default the first one."
    )


class DeliverView(ClusterScopedView):
    """A stored message, handed to one client."""

    # The client that gets the body may be one that would never read the topic.
    permission_classes = (needs("read"), needs("bodies"))

    def right_resource(self) -> Resource:
        """Return the topic of the message."""
        return topic_of_body(self.request, DeliverSerializer)

    @extend_schema(
        operation_id="deliverMessage",
        tags=["messages"],
        request=DeliverSerializer,
        responses=serializer_of(Delivered),
    )
    def post(self, request: Request, cluster: str, message_id: str) -> Response:
        """Hand a message to one native client of a group and return its result; needs `manage` on the group."""
        form = DeliverSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        group = wanted["group"]
        require(request, "manage", Resource("group", group))
        placed = found_message(self, wanted["topic"], message_id)
        client_id = self.ask(lambda admin: _client_of(admin, group, wanted.get("client_id")))
        by, resource = actor_of(request), f"{cluster}/groups/{group}"
        before = {"topic": wanted["topic"], "message_id": message_id, "client_id": client_id}
        try:
            result = self.ask(lambda admin: _deliver(admin, placed, group, client_id))
        except (GantryError, Conflict, ProblemError) as error:
            # After a time-out the client may have handled it all the same.
            record(by, "message.deliver", resource, result="failed", before=before, after={"error": str(error)})
            raise
        shown = Delivered(
            group=group,
            client_id=client_id,
            result=_RESULTS[result.consume_result],
            remark=result.remark or None,
            spent_ms=result.spent_time_mills,
            in_order=result.order,
        )
        record(by, "message.deliver", resource, before=before, after={"result": shown.result, "remark": shown.remark})
        return Response(as_json(shown))


async def _client_of(admin: Admin, group: str, wanted: str | None) -> str:
    """Return the client to ask; raise NotKnown, Conflict if the group has no native client, or BrokersSilent."""
    found = await admin.groups.connections(group)
    if wanted is not None:
        require_member(group, wanted, found)
        return wanted
    if found.members:
        return min(found.members)
    if found.failed:
        raise BrokersSilent(f"Whether group {group!r} has a native client is not known: {reasons_of(found)}.")
    raise Conflict(
        f"Group {group!r} has no native client now. Consumers over HTTP and WebSocket ask for messages themselves: "
        "send the message again instead."
    )


async def _deliver(admin: Admin, placed: PlacedMessage, group: str, client_id: str) -> ConsumeMessageDirectlyResult:
    """Return the result of the client; raise Conflict if it does not serve this, TIMED_OUT if it is slow."""
    try:
        return await admin.messages.deliver(placed, group, client_id)
    except BrokerRefused as error:
        if error.code == ResponseCode.CONSUME_MSG_TIMEOUT:
            detail = f"Client {client_id!r} got the message and gave no result in time: it may handle it all the same."
            raise ProblemError(TIMED_OUT, detail) from error
        raise Conflict(f"Client {client_id!r} did not handle the message: {reason_of(error)}.") from error
