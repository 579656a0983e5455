"""Transactions: those that are open or were given up, one of them, and checking it again.

`gateway.data.transactions` has the decisions, of operators too.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.transactions import HalfMessage
from broker_core.client.errors import TransactionDecided
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.topics import TRANSACTION_EXPIRED_TOPIC
from console.accounts.permissions import actor_of, allows, needs, require
from console.accounts.rights import Resource, Verb
from console.audit.record import record
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.paging import PAGE_PARAMETERS, cursor_of, limit_of, make_cursor
from console.shapes import as_json, serializer_of
from gateway.broker_products import is_gantry
from gateway.control.cluster_view import ClusterListView, word_of
from gateway.control.messages import missing_of
from gateway.control.transaction_reading import (
    Standing,
    Wanted,
    add_checks,
    given_up_page,
    given_up_with,
    id_of,
    ids,
    open_page,
    standing_of,
)
from gateway.control.transaction_shapes import (
    TransactionChecked,
    TransactionDetail,
    TransactionRows,
    detail_of,
    row_of,
)
from gateway.data.schemas import encode
from gateway.problems import TRANSACTION_NOT_FOUND, ProblemError
from gateway.transaction_ids import HalfPlace, decided_before

_STATES: Final = ("open", "given_up")
_TWICE: Final = (
    "Broker {broker!r} is not one of Gantry: asked to check an open transaction again it would store a second half "
    "message, and the message could be delivered twice. It asks the producers by itself."
)


class _TransactionsView(ClusterListView):
    """The transactions of topics that the caller may read."""

    permission_classes = (needs("read", to_change="produce"),)
    listed = "topic"

    def may_see(self, topic: str) -> bool:
        """Return whether the caller may read a topic."""
        return allows(self.request, "read", Resource("topic", topic))

    def standing(self, transaction_id: str, verb: Verb) -> tuple[HalfPlace, Standing]:
        """Return where a transaction is and how it stands; raise TRANSACTION_NOT_FOUND.

        Raises PermissionDenied unless the caller may do this with its topic, which the id tells anyway.
        """
        place = ids().open(transaction_id, cluster=self.cluster)
        require(self.request, verb, Resource("topic", place.topic))
        found = self.ask(lambda admin: standing_of(admin, place))
        if found is None:
            detail = f"The half message {place.message_id} of the transaction is not stored any more."
            raise ProblemError(TRANSACTION_NOT_FOUND, detail)
        return place, found


class TransactionsView(_TransactionsView):
    """Transactions without a decision."""

    @extend_schema(
        operation_id="listTransactions",
        tags=["transactions"],
        parameters=[
            OpenApiParameter("state", str, enum=list(_STATES), default="open"),
            OpenApiParameter("topic", str, description="The topic of the messages."),
            OpenApiParameter("group", str, description="The producer group."),
            OpenApiParameter("key", str, description="A key or a message id, in full."),
            *PAGE_PARAMETERS,
        ],
        responses=serializer_of(TransactionRows),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the transactions that are open, or that were given up and are still to decide.

        With a `key`, what was given up is also found if it was decided since; its `state` says so.
        It is read from the records of the brokers, of Apache RocketMQ too, so it costs as much as there is open.
        """
        state = request.query_params.get("state", "open")
        if state not in _STATES:
            raise serializers.ValidationError({"state": f"must be one of {', '.join(_STATES)}"})
        topic, group, key = (word_of(request, name) for name in ("topic", "group", "key"))

        def wanted(half: HalfMessage) -> bool:
            is_chosen = topic in (None, half.topic) and group in (None, half.group)
            return is_chosen and (key is None or _has_key(half, key)) and self.may_see(half.topic)

        shown = self._given_up(request, wanted) if state == "given_up" else self._open(request, wanted)
        return Response(as_json(shown))

    def _open(self, request: Request, wanted: Wanted) -> TransactionRows:
        limit, after = limit_of(request), cursor_of(request)
        place = None if after is None else (after[0], after[1], after[2])
        page = self.ask(lambda admin: open_page(admin, self.cluster, wanted, place, limit))
        return TransactionRows(
            items=page.rows,
            next_cursor=None if page.next_place is None else make_cursor(request, list(page.next_place)),
            missing=missing_of(self.cluster, None, page.asked, page.failed),
            partial=page.partial,
        )

    def _given_up(self, request: Request, wanted: Wanted) -> TransactionRows:
        if key := word_of(request, "key"):
            return self._given_up_with(key, wanted)
        limit, after = limit_of(request), cursor_of(request)
        begin = None if after is None else {_expired_queue(name): int(at) for name, at in after.items()}
        page = self.ask(lambda admin: given_up_page(admin, self.cluster, wanted, begin, limit))
        rest = {queue.broker_name: at for queue, at in page.positions.items()}
        return TransactionRows(
            items=page.rows,
            next_cursor=make_cursor(request, rest) if rest else None,
            missing=missing_of(self.cluster, TRANSACTION_EXPIRED_TOPIC, page.asked, page.failed),
            partial=[],
        )

    def _given_up_with(self, key: str, wanted: Wanted) -> TransactionRows:
        page = self.ask(lambda admin: given_up_with(admin, self.cluster, key, wanted))
        return TransactionRows(
            items=page.rows,
            next_cursor=None,
            missing=missing_of(self.cluster, TRANSACTION_EXPIRED_TOPIC, page.asked, page.failed),
            partial=list(page.partial),
        )


def _has_key(half: HalfMessage, key: str) -> bool:
    return key in half.keys or key in (half.unique_id, half.message_id)


def _expired_queue(broker_name: str) -> MessageQueue:
    return MessageQueue(TRANSACTION_EXPIRED_TOPIC, broker_name, 0)


class TransactionView(_TransactionsView):
    """One transaction."""

    @extend_schema(operation_id="getTransaction", tags=["transactions"], responses=serializer_of(TransactionDetail))
    def get(self, request: Request, cluster: str, transaction_id: str) -> HttpResponse:
        """Return a transaction with its message; 404 once its half message is no longer stored."""
        _, found = self.standing(transaction_id, "read")
        row = row_of(found.half, id_of(cluster, found.half), found.state, found.asked)
        if found.state == "open":
            self.ask(lambda admin: add_checks(admin, [(row, found.half)]))
        hidden = None if found.placed is not None else "The message is not stored any more."
        if not allows(request, "bodies", Resource("topic", row.topic)):
            hidden = f"This needs the right 'bodies' on {row.topic!r}."
        message = None if found.placed is None else found.placed.message
        return HttpResponse(encode(detail_of(row, message, hidden=hidden)), content_type="application/json")


class TransactionCheckView(_TransactionsView):
    """Asking the producers again."""

    @extend_schema(
        operation_id="checkTransaction",
        tags=["transactions"],
        request=None,
        responses=serializer_of(TransactionChecked),
    )
    def post(self, request: Request, cluster: str, transaction_id: str) -> Response:
        """Have a transaction checked from the beginning, also one that was given up; 409 if it is decided.

        Brokers of Apache RocketMQ take it for those that were given up; an open one is a 409 there.
        """
        place, found = self.standing(transaction_id, "produce")
        row = row_of(found.half, None, "open", found.asked)

        async def question(admin: Admin) -> None:
            if found.state != "given_up" and not await is_gantry(admin, place.broker):
                raise Conflict(_TWICE.format(broker=place.broker))
            await admin.transactions.check_again(place.broker, found.half.offset_id)
            await add_checks(admin, [(row, found.half)])

        by, resource = actor_of(request), f"{cluster}/topics/{place.topic}"
        before = {"message_id": row.message_id, "group": row.group}
        try:
            self.ask(question)
        except GantryError as error:
            record(by, "transaction.check", resource, result="failed", before=before, after={"error": reason_of(error)})
            if isinstance(error, TransactionDecided):
                raise decided_before(place, error.decision) from error
            raise
        record(by, "transaction.check", resource, before=before)
        checked = TransactionChecked(
            message_id=row.message_id,
            topic=row.topic,
            group=row.group,
            broker=row.broker,
            producer_connected=row.producer_connected,
        )
        return Response(as_json(checked))
