"""Transactions over HTTP: prepare a message, and commit it or roll it back (docs/http-api.md#transactions).

Brokers of Gantry know how a transaction ended, and refuse a decision that contradicts. What those of Apache RocketMQ do
not know is kept for a day (`transaction_memory`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from broker_core.client import errors
from broker_core.client.admin.groups import is_system_group
from broker_core.client.members import Prepared
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.transactions import Decision, end_transaction, half_message, prepared_by
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.topics import is_retry_topic
from console.accounts.rights import Resource
from console.clusters.connections import GATEWAY_GROUP
from console.moments import rfc3339
from gateway.data.audit_notes import Note
from gateway.data.consumers import Caller
from gateway.data.idempotency import Claim, once_if_named
from gateway.data.messages import Draft, draft_of_entry, draft_of_raw
from gateway.data.parts import Answer, DataPlaneParts, Request
from gateway.data.request_head import media_type
from gateway.data.retries import find_half, identify
from gateway.data.routing import check_group
from gateway.data.schemas import (
    DecideAnswer,
    DecideRequest,
    Options,
    PrepareAnswer,
    ProduceRequest,
    decode,
    decoder,
    encode,
    invalid,
)
from gateway.data.transaction_memory import Ended, decided_on_apache, decisions_of, keep_decision, spot_of
from gateway.problems import (
    MESSAGE_ILLEGAL,
    STORED_NOT_FLUSHED,
    TIMED_OUT,
    TOPIC_NOT_FOUND,
    TRANSACTION_NOT_FOUND,
    TRANSACTIONS_NOT_SERVED,
    ProblemError,
    is_uncertain,
)
from gateway.transaction_ids import HalfPlace, decided_before

DEFAULT_GROUP: Final = "GANTRY_TRANSACTIONS"
"""The producer group of whoever names none; nobody who does not mean to is a member of it."""

_REQUEST: Final = decoder(ProduceRequest)
_DECIDE: Final = decoder(DecideRequest)
_MOST_SECONDS: Final = 2**31 - 1
_FORBIDDEN_REMARK: Final = "transaction message is forbidden"
_ENDS: Final[dict[Decision, Ended]] = {Decision.COMMIT: "committed", Decision.ROLLBACK: "rolled_back"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Terms:
    """What the query of a request says."""

    group: str
    check_after_s: int | None


# -- first phase


async def prepare(parts: DataPlaneParts, request: Request, claim: Claim | None = None) -> Answer:
    """Store the message of a request as a half message, which nobody sees until its transaction is committed."""
    terms = _terms_of(request.scope["query_string"])
    if is_retry_topic(request.route.topic):
        detail = f"{request.route.topic!r} is a retry topic of a group, which takes no transactional message."
        raise ProblemError(MESSAGE_ILLEGAL, detail)
    draft, options = _draft_of(parts, request)
    headers = parts.produce_rate.take(request.principal.key, 1, parts.clock())
    if terms.check_after_s is not None:
        draft.message.properties[names.CHECK_IMMUNITY_TIME_IN_SECONDS] = str(terms.check_after_s)
    if options.flush == "async":
        draft.message.properties[names.WAIT] = "false"
    prepared, stored_at = await _stored(parts, request, draft, options, terms.group, claim)
    parts.metrics.messages("produced", 1)
    place = HalfPlace.of(request.route.cluster, draft.message.topic, terms.group, prepared)
    answer = PrepareAnswer(
        transaction_id=parts.transaction_ids.seal(place),
        message_id=prepared.message_id,
        topic=draft.message.topic,
        group=terms.group,
        stored_at=rfc3339(stored_at),
        check_after_ms=None if terms.check_after_s is None else terms.check_after_s * 1000,
    )
    return Answer(201, encode(answer), headers)


def one_by_one() -> ProblemError:
    """Return the refusal of several transactional messages in one request."""
    return invalid("?transaction", "A transaction has one message: send each in a request of its own.")


def _terms_of(query: bytes) -> _Terms:
    given = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    repeated = next((name for name, values in given.items() if len(values) > 1), None)
    if repeated is not None:
        raise invalid(f"?{repeated}", f"{repeated} is given twice.")
    if given.get("transaction") != ["prepare"]:
        raise invalid("?transaction", "The only value is prepare; group and check_after_s come with it.")
    group = given.get("group", [DEFAULT_GROUP])[0]
    try:
        check_group(group)
    except ProblemError as problem:  # it need not exist, so that it cannot be "not found"
        raise invalid("?group", problem.detail) from problem
    if is_system_group(group) or group == GATEWAY_GROUP:
        raise invalid("?group", f"{group!r} is a group of the system, whose members answer no checks.")
    seconds = given.get("check_after_s", [None])[0]
    if seconds is None:
        return _Terms(group, None)
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= 10 and 0 < int(seconds) <= _MOST_SECONDS):
        raise invalid("?check_after_s", f"Must be whole seconds from 1 to {_MOST_SECONDS:,}.")
    return _Terms(group, int(seconds))


def _draft_of(parts: DataPlaneParts, request: Request) -> tuple[Draft, Options]:
    """Return the one message of a request; raise INVALID for what a transactional message cannot have."""
    topic, sizes = request.route.topic, parts.limits.sizes
    if media_type(request.headers) != b"application/json":
        draft, options = draft_of_raw(request.scope["headers"], request.body, topic, sizes=sizes), Options()
        key_at = "MQ-Ordering-Key"
    else:
        wanted = decode(_REQUEST, request.body)
        if wanted.messages or wanted.options.atomic:
            raise one_by_one()
        if wanted.options.flush == "sync":
            raise invalid("#/options/flush", "Only async is possible: to wait for the disk is a setting of the broker.")
        draft = draft_of_entry(wanted, topic, entry_id=wanted.entry_id or "0", at="#", sizes=sizes)
        options, key_at = wanted.options, "#/ordering_key"
    if draft.delay_at:  # also one of 0: when it is seen, its commit says
        raise invalid(draft.delay_at, "A transactional message takes no delay and no delivery time.")
    if draft.ordering_key is not None:
        raise invalid(key_at, "A transactional message takes no ordering key: it is stored when it is committed.")
    return draft, options


async def _stored(
    parts: DataPlaneParts, request: Request, draft: Draft, options: Options, group: str, claim: Claim | None
) -> tuple[Prepared, int]:
    """Return where the half message is, and since when (ms); with an Idempotency-Key, that of an earlier try."""
    if claim is not None:
        identify([draft], claim)
        placed = await find_half(parts, request.route.cluster, draft) if claim.is_retry else None
        if placed is not None:
            found = placed.message
            where = Prepared(placed.broker_name, found.queue_offset, found.log_offset, found.message_id)
            return where, found.store_timestamp
    producer = await parts.connections.producer(request.route.cluster)
    sent = await _send(producer, draft, options, group)
    prepared = prepared_by(sent)
    if sent.status is not SendStatus.SEND_OK:
        await _withdraw(parts, request.route.cluster, group, prepared)
        detail = f"The broker answered {sent.status}: a crash may lose the half message, so it was rolled back."
        raise ProblemError(STORED_NOT_FLUSHED, detail)
    return prepared, now_ms()


async def _send(producer: Producer, draft: Draft, options: Options, group: str) -> SendResult:
    half = half_message(draft.message, group)
    try:
        # After an uncertain attempt another one would leave a second half message.
        return await producer.send(half, timeout_ms=options.timeout_ms, is_repeatable=False)
    except errors.NoPermission as error:
        if _FORBIDDEN_REMARK in (error.remark or ""):
            peer = f"The broker at {error.addr}" if error.broker_name is None else f"Broker {error.broker_name}"
            detail = f"{peer} accepts no transactional messages (rejectTransactionMessage)."
            raise ProblemError(TRANSACTIONS_NOT_SERVED, detail) from error
        raise


async def _withdraw(parts: DataPlaneParts, cluster: str, group: str, prepared: Prepared) -> None:
    try:
        await end_transaction(await parts.connections.session(cluster), group, prepared, Decision.ROLLBACK)
    except GantryError as error:  # the group is asked about it, and nobody has its id
        _log.warning("cluster=%s: message %s could not be rolled back: %s", cluster, prepared.message_id, error)


# -- second phase


async def commit(parts: DataPlaneParts, request: Request) -> Answer:
    """Let the message of a transaction be seen; again is a success, after a rollback it is TRANSACTION_DECIDED."""
    return await _decide(parts, request, Decision.COMMIT)


async def rollback(parts: DataPlaneParts, request: Request) -> Answer:
    """Drop the message of a transaction; again is a success, after a commit it is TRANSACTION_DECIDED."""
    return await _decide(parts, request, Decision.ROLLBACK)


async def _decide(parts: DataPlaneParts, request: Request, decision: Decision) -> Answer:
    wanted = decode(_DECIDE, request.body) if request.body.strip() else DecideRequest()

    async def run(parts: DataPlaneParts, request: Request) -> Answer:
        place = await _place_for(parts, request)
        headers = parts.produce_rate.take(request.principal.key, 1, parts.clock())
        ended = await _end_once(parts, request, place, decision, wanted.reason)
        answer = DecideAnswer(request.route.transaction, place.message_id, place.topic, place.group, ended)
        return Answer(200, encode(answer), headers)

    return await once_if_named(parts, request, run)


async def _place_for(parts: DataPlaneParts, request: Request) -> HalfPlace:
    """Return the half message of the id in the path; raise a problem unless the caller may produce to its topic."""
    route = request.route
    await parts.connections.session(route.cluster)  # of a cluster that there is not, no id is right
    place = parts.transaction_ids.open(route.transaction, cluster=route.cluster)
    try:
        request.principal.require("produce", Resource("topic", place.topic))
    except ProblemError as problem:
        parts.note_refusal(request.principal, route.action, request.scope, problem, request.id)
        raise
    return place


async def end_checked(parts: DataPlaneParts, place: HalfPlace, decision: Decision) -> None:
    """End a transaction as the answer to a broker's check says; raise like a request that decides."""
    await _settle(parts, place, decision, from_check=True)


async def _end_once(
    parts: DataPlaneParts, request: Request, place: HalfPlace, decision: Decision, reason: str | None
) -> Ended:
    ended = _ENDS[decision]
    try:
        is_new = await _settle(parts, place, decision, from_check=False)
    except (GantryError, ProblemError) as error:
        if is_uncertain(error) or (isinstance(error, ProblemError) and error.kind in (STORED_NOT_FLUSHED, TIMED_OUT)):
            _note(parts, request, place, ended, reason, is_certain=False)
        raise
    if is_new:
        _note(parts, request, place, ended, reason)
    return ended


async def _settle(parts: DataPlaneParts, place: HalfPlace, decision: Decision, *, from_check: bool) -> bool:
    """Tell the broker a decision; return whether it is not known to be a repeated one."""
    ended = _ENDS[decision]
    decisions = await decisions_of(parts, place)
    before = await decided_on_apache(parts, place, decisions)
    if before is None:
        await _end(parts, place, decision, from_check=from_check)
        await keep_decision(parts, place, ended)
        return decisions.get(spot_of(place)) != ended
    if before != ended:
        raise decided_before(place, before)
    return False


async def _end(parts: DataPlaneParts, place: HalfPlace, decision: Decision, *, from_check: bool) -> None:
    session = await parts.connections.session(place.cluster)
    try:
        is_safe = await end_transaction(session, place.group, place.prepared, decision, from_check=from_check)
    except errors.TransactionDecided as error:
        raise decided_before(place, error.decision) from error
    except errors.TransactionUnknown as error:
        detail = f"Broker {place.broker!r} has no transaction of message {place.message_id} any more: {error.remark}."
        raise ProblemError(TRANSACTION_NOT_FOUND, detail) from error
    except errors.NotConfirmed as error:
        detail = "The broker stored the decision, and the replicas in sync have not confirmed it; say it again."
        raise ProblemError(TIMED_OUT, detail) from error
    except errors.BrokerRefused as error:
        if error.code != ResponseCode.TOPIC_NOT_EXIST:
            raise
        detail = f"Topic {place.topic!r} was deleted; the transaction stays open: create the topic, or roll it back."
        raise ProblemError(TOPIC_NOT_FOUND, detail) from error
    if not is_safe:
        detail = "The broker stored the decision, and does not know yet that it is on the disk; say it again."
        raise ProblemError(STORED_NOT_FLUSHED, detail)


def _note(
    parts: DataPlaneParts,
    request: Request,
    place: HalfPlace,
    ended: Ended,
    reason: str | None,
    *,
    is_certain: bool = True,
) -> None:
    """Report a decision of an operator to the audit: one with a reason, or of a session."""
    if reason is None and request.principal.token_id is not None:
        return
    who = Caller.of(request.principal, request.address)
    resource = f"{place.cluster}/topics/{place.topic}"
    action = "transaction.commit" if ended == "committed" else "transaction.rollback"
    about = f"message {place.message_id} of group {place.group}"
    about = about if is_certain else f"{about}, not confirmed by the broker, which may have stored it"
    told = f"{about}: {reason}" if reason else about
    parts.note(Note(who, action, resource, "ok" if is_certain else "failed", request.id, told))
