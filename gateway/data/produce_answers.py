"""The answers to a produce request, from the outcomes of its messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from msgspec import UNSET, to_builtins

from broker_core.protocol.bodies.queues import MessageQueue
from gateway.data.parts import Answer, Header, Request
from gateway.data.schemas import ProduceAnswer, encode
from gateway.data.sending import SendOutcome
from gateway.problems import FieldError, ProblemError

_FIRST_ID: Final = b'"0"'


def shared_problem(problem: ProblemError, outcomes: list[SendOutcome], *, as_text: bool) -> ProblemError:
    """Return the problem that all messages of a batch have, with a pointer to each of them, or to the fault in it.

    `as_text` is for offsets: whether the client wants them as strings.
    """
    errors: list[FieldError] = []
    for index, outcome in enumerate(outcomes):
        if outcome.problem is not None:
            its = FieldError(f"#/messages/{index}", outcome.problem.kind.code, outcome.problem.detail)
            errors += outcome.problem.errors or [its]
    return ProblemError(problem.kind, problem.detail, errors=errors, extra=results_of(outcomes, as_text=as_text))


def results_of(outcomes: list[SendOutcome], *, as_text: bool) -> dict[str, object]:
    content: dict[str, object] = to_builtins(_content(outcomes, as_text))
    return content


def answer_of(status: int, outcomes: list[SendOutcome], request: Request, headers: Sequence[Header]) -> Answer:
    return Answer(status, encode(_content(outcomes, request.wants_text_offsets)), headers)


def _content(outcomes: list[SendOutcome], as_text: bool) -> ProduceAnswer:
    results = [outcome.result for outcome in outcomes]
    if as_text:
        for result in results:
            if result.offset is not UNSET:
                result.offset = str(result.offset)
    stored = sum(result.status == "stored" for result in results)
    return ProduceAnswer(results, stored, len(results) - stored)


def answer_of_one(entry_id: str | None, message_id: str, queue: MessageQueue, offset: int, stored_at: str) -> bytes:
    """Return the answer to a request with one message that was stored."""
    name = _FIRST_ID if entry_id is None else encode(entry_id)
    stored = b'"message_id":"%b","broker":%b,"queue_id":%d,"offset":%d,"stored_at":"%b"'
    fields = stored % (message_id.encode(), encode(queue.broker_name), queue.queue_id, offset, stored_at.encode())
    return b'{"results":[{"entry_id":%b,"status":"stored",%b}],"stored":1,"failed":0}' % (name, fields)


def answer_of_batch(
    entry_ids: Iterable[str | None], message_ids: Sequence[str], queue: MessageQueue, offset: int, stored_at: str
) -> bytes:
    """Return the answer to a request whose messages were stored as one batch that begins at `offset`."""
    end = f'","broker":{encode(queue.broker_name).decode()},"queue_id":{queue.queue_id},"offset":'
    last = f',"stored_at":"{stored_at}"}}'
    entries = [f'"{place}"' if each is None else encode(each).decode() for place, each in enumerate(entry_ids)]
    results = [
        f'{{"entry_id":{name},"status":"stored","message_id":"{message_id}{end}{its_offset}{last}'
        for name, message_id, its_offset in zip(entries, message_ids, count(offset))
    ]
    return f'{{"results":[{",".join(results)}],"stored":{len(results)},"failed":0}}'.encode()
