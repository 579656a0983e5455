"""Settle over HTTP: ack, nack and extend take receipts and answer with a result for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import to_builtins

from gateway.data import settlement
from gateway.data.idempotency import once_if_named
from gateway.data.leases import LeaseHolder
from gateway.data.parts import Answer, DataPlaneParts, Header, Request
from gateway.data.schemas import (
    AckRequest,
    ExtendRequest,
    NackRequest,
    SettleAnswer,
    decode,
    decoder,
    encode,
)
from gateway.data.settlement import SettleOutcome
from gateway.problems import FieldError, ProblemError

_ACK: Final = decoder(AckRequest)
_NACK: Final = decoder(NackRequest)
_EXTEND: Final = decoder(ExtendRequest)


async def ack(parts: DataPlaneParts, request: Request) -> Answer:
    """Acknowledge messages."""
    return await once_if_named(parts, request, _ack)


async def _ack(parts: DataPlaneParts, request: Request) -> Answer:
    wanted = decode(_ACK, request.body)
    headers = _admit(parts, request, wanted.receipts)
    results = await settlement.ack_results(parts, holder_of(request), wanted.receipts)
    if results.count(True) == len(results):
        return Answer(200, _all_acked(wanted.receipts), headers)
    return _answer(settlement.ack_outcomes(wanted.receipts, results), headers)


async def nack(parts: DataPlaneParts, request: Request) -> Answer:
    """Return messages for redelivery, or move them to the group's dead letters."""
    return await once_if_named(parts, request, _nack)


async def _nack(parts: DataPlaneParts, request: Request) -> Answer:
    wanted = decode(_NACK, request.body)
    headers = _admit(parts, request, wanted.receipts)
    outcomes = await settlement.nack(parts, holder_of(request), wanted.receipts, wanted, request.id)
    return _answer(outcomes, headers)


async def extend(parts: DataPlaneParts, request: Request) -> Answer:
    """Extend the leases of messages."""
    return await once_if_named(parts, request, _extend)


async def _extend(parts: DataPlaneParts, request: Request) -> Answer:
    wanted = decode(_EXTEND, request.body)
    headers = _admit(parts, request, wanted.receipts)
    return _answer(await settlement.extend(parts, holder_of(request), wanted.receipts, wanted), headers)


def holder_of(request: Request) -> LeaseHolder:
    """Return the holder for which a request receives or settles."""
    route = request.route
    return LeaseHolder.of(route.cluster, route.group, route.topic, request.principal, request.address)


def _admit(parts: DataPlaneParts, request: Request, receipts: Sequence[str]) -> Sequence[Header]:
    settlement.check_receipts(receipts, parts.limits.sizes.receipts)
    return parts.consume_rate.take(request.principal.key, 1, parts.clock())


def _all_acked(receipts: Sequence[str]) -> bytes:
    """Return what `_answer` encodes if all were acknowledged; receipts that were opened need no escapes."""
    text = '"status":"acked"},{"receipt":'.join(f'"{receipt}",' for receipt in receipts)
    return f'{{"results":[{{"receipt":{text}"status":"acked"}}],"settled":{len(receipts)},"failed":0}}'.encode()


def _answer(outcomes: Sequence[SettleOutcome], headers: Sequence[Header]) -> Answer:
    """Return 200 if all receipts were settled, 207 if some were; raise the problem if all failed alike."""
    problems = [outcome.problem for outcome in outcomes if outcome.problem is not None]
    results = [outcome.result for outcome in outcomes]
    content = SettleAnswer(results, len(results) - len(problems), len(problems))
    if not problems:
        return Answer(200, encode(content), headers)
    if len(problems) == len(results) and len({problem.kind for problem in problems}) == 1:
        errors = [
            FieldError(f"#/receipts/{index}", problem.kind.code, problem.detail)
            for index, problem in enumerate(problems)
        ]
        extra = to_builtins(content)
        raise ProblemError(problems[0].kind, problems[0].detail, errors=errors, extra=extra, headers=headers)
    return Answer(207, encode(content), headers)
