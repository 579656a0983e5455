"""The data plane in the OpenAPI document: paths written by hand, shapes from the classes that decode requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from console.idempotency import MAX_KEY
from gateway.data import produce_lines, schemas
from gateway.data.transactions import DEFAULT_GROUP

Schema = dict[str, Any]
"""A part of the OpenAPI document, in drf-spectacular's form."""
# Names in the document, which has no modules to tell classes of the same name apart.
_NAMES: Final[dict[type, str]] = {
    schemas.Body: "MessageBody",
    schemas.Entry: "ProduceMessage",
    schemas.Options: "ProduceOptions",
    schemas.ProduceRequest: "ProduceRequest",
    schemas.Produced: "ProduceResult",
    schemas.ProduceAnswer: "Produced",
    schemas.Filter: "ReceiveFilter",
    schemas.ReceiveRequest: "ReceiveRequest",
    schemas.Leased: "LeasedMessage",
    schemas.ReceiveAnswer: "ReceiveAnswer",
    schemas.UnheardBroker: "UnheardBroker",
    schemas.AckRequest: "AckRequest",
    schemas.NackRequest: "NackRequest",
    schemas.ExtendRequest: "ExtendRequest",
    schemas.Settled: "SettleResult",
    schemas.SettleAnswer: "SettleAnswer",
    schemas.PrepareAnswer: "PreparedMessage",
    schemas.DecideRequest: "TransactionDecision",
    schemas.DecideAnswer: "EndedTransaction",
}
_REF: Final = "#/components/schemas/"
_EITHER_OFFSET: Final = [{"type": "integer"}, {"type": "string"}]
_BRIEF: Final = "BriefProblem"
_BRIEF_PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "A problem inside a result.",
    "required": ["code", "status", "retryable", "detail"],
    "properties": {
        "code": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "retryable": {"type": "boolean"},
        "detail": {"type": "string"},
    },
}


def data_plane_schemas() -> Schema:
    """Return the shapes by name in the document."""
    _, found = msgspec.json.schema_components(list(_NAMES), schema_hook=_any_value, ref_template=_REF + "{name}")
    by_class = {kind.__name__: name for kind, name in _NAMES.items()}
    return {_BRIEF: _BRIEF_PROBLEM} | {by_class[name]: _described(schema, by_class) for name, schema in found.items()}


def _any_value(kind: type) -> Schema:
    """Return the schema of a type that can hold any JSON value."""
    if kind in (object, msgspec.Raw):
        return {"description": "Any value."}
    raise NotImplementedError(kind)


def _described(value: Any, by_class: dict[str, str]) -> Any:
    """Return a shape with the names of the document, without defaults, which would make fields look required."""
    if isinstance(value, list):
        return [_described(each, by_class) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _described(each, by_class) for name, each in value.items() if name not in ("title", "default")}
    if "$ref" in kept:
        kept["$ref"] = _REF + by_class[kept["$ref"].removeprefix(_REF)]
    if kept.get("anyOf") == _EITHER_OFFSET:
        return {"type": "integer", "description": "With `Accept: application/json;offsets=string` a string."}
    if "problem" in kept and "type" in kept["problem"]:
        kept["problem"] = {"$ref": _REF + _BRIEF}
    return kept


def _header(name: str, description: str, *, kind: str = "string", **bounds: int) -> Schema:
    return {"name": name, "in": "header", "schema": {"type": kind, **bounds}, "description": description}


def _post(
    operation_id: str,
    summary: str,
    where: list[str],
    body: type,
    answers: dict[str, type],
    headers: Sequence[Schema] = (),
    other_bodies: Schema | None = None,
    *,
    is_body_needed: bool = True,
) -> Schema:
    names = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in where]
    return {
        "post": {
            "operationId": operation_id,
            "summary": summary,
            "tags": ["data plane"],
            "parameters": [*names, _KEY, *headers],
            "requestBody": {"required": is_body_needed, "content": {**_json(body)["content"], **(other_bodies or {})}},
            "responses": {status: {"description": "", **_json(kind)} for status, kind in answers.items()},
            "security": [{"token": []}, {"session": []}],
        }
    }


def _json(kind: type) -> Schema:
    return {"content": {"application/json": {"schema": {"$ref": _REF + _NAMES[kind]}}}}


_KEY: Final = _header(
    "Idempotency-Key",
    "A request repeated with the same key within 24 hours is not executed again; it gets the first answer. "
    "For `:receive` it means the same as `attempt_id`.",
    minLength=1,
    maxLength=MAX_KEY,
)
LINES: Final = produce_lines.LINES.decode()
_RAW: Final = "Only if the body is not JSON:"
# `MQ-Property-…` is a family of headers, which the document can only mention.
_ATTRIBUTES: Final = [
    _header("MQ-Key", f"{_RAW} a key of the message. The header may be repeated."),
    _header("MQ-Tag", f"{_RAW} the tag of the message. `MQ-Property-<name>` headers are its properties."),
    _header("MQ-Ordering-Key", f"{_RAW} messages with the same ordering key go to the same queue."),
    _header("MQ-Delay-Ms", f"{_RAW} deliver it after so many milliseconds.", kind="integer", minimum=0),
    _header("MQ-Deliver-At", f"{_RAW} deliver it at this point in time instead, in RFC 3339 with an offset."),
]
_RAW_BODIES: Final[Schema] = {
    "text/plain": {"schema": {"type": "string", "description": "The message itself."}},
    "application/octet-stream": {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "The message itself, with any other content type but `application/x-ndjson` too.",
        }
    },
    LINES: {
        "schema": {
            "type": "string",
            "pattern": r"\S",
            "description": "A `ProduceMessage` in each line, as many as you like; there is no Idempotency-Key then.",
        }
    },
}
_RESULT_LINES: Final[Schema] = {
    "description": "Of a stream of lines: a `ProduceResult` in each line, while the request goes on.",
    "content": {LINES: {"schema": {"type": "string"}}},
}
_PRODUCE: Final = "/api/v1/clusters/{cluster}/topics/{topic}/messages"
# A prepare is a produce with another answer: the document has one operation for a path and method.
_PREPARING: Final = [
    {
        "name": "transaction",
        "in": "query",
        "schema": {"type": "string", "enum": ["prepare"]},
        "description": "Store one message as the first phase of a transaction; the answer is a `PreparedMessage`.",
    },
    {
        "name": "group",
        "in": "query",
        "schema": {"type": "string"},
        "description": f"With `transaction`: the producer group; by default {DEFAULT_GROUP}.",
    },
    {
        "name": "check_after_s",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
        "description": "With `transaction`: when the broker asks first; by default its own setting decides.",
    },
]
_WHERE: Final = ["cluster", "group", "topic"]
_LEASE: Final = "/api/v1/clusters/{cluster}/groups/{group}/topics/{topic}"
_SETTLED: Final[dict[str, type]] = {"200": schemas.SettleAnswer, "207": schemas.SettleAnswer}

DATA_PLANE_PATHS: Final[Schema] = {
    # GET on this path belongs to the control plane.
    _PRODUCE: _post(
        "produceMessages",
        "Send one message or a batch.",
        ["cluster", "topic"],
        schemas.ProduceRequest,
        {"201": schemas.ProduceAnswer, "207": schemas.ProduceAnswer},
        _ATTRIBUTES,
        _RAW_BODIES,
    ),
    f"{_LEASE}:receive": _post(
        "receiveMessages", "Receive messages on lease.", _WHERE, schemas.ReceiveRequest, {"200": schemas.ReceiveAnswer}
    ),
    f"{_LEASE}:ack": _post("ackMessages", "Acknowledge messages.", _WHERE, schemas.AckRequest, _SETTLED),
    f"{_LEASE}:nack": _post("nackMessages", "Return messages for redelivery.", _WHERE, schemas.NackRequest, _SETTLED),
    f"{_LEASE}:extend": _post("extendLeases", "Extend leases.", _WHERE, schemas.ExtendRequest, _SETTLED),
}
for verb, done in (("commit", "Commit"), ("rollback", "Roll back")):
    DATA_PLANE_PATHS[f"/api/v1/clusters/{{cluster}}/transactions/{{transaction_id}}:{verb}"] = _post(
        f"{verb}Transaction",
        f"{done} a transaction.",
        ["cluster", "transaction_id"],
        schemas.DecideRequest,
        {"200": schemas.DecideAnswer},
        is_body_needed=False,
    )
DATA_PLANE_PATHS[_PRODUCE]["post"]["parameters"] += _PREPARING
_PRODUCED: Final = DATA_PLANE_PATHS[_PRODUCE]["post"]["responses"]["201"]["content"]["application/json"]
_PRODUCED["schema"] = {
    "oneOf": [_PRODUCED["schema"], _json(schemas.PrepareAnswer)["content"]["application/json"]["schema"]]
}
DATA_PLANE_PATHS[_PRODUCE]["post"]["responses"]["200"] = _RESULT_LINES
