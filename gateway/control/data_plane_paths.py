"""The data plane in the OpenAPI document; its own code carries no framework that could describe it."""

from __future__ import annotations

from typing import Any, Final

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_MOMENT: Final[dict[str, Any]] = {"type": "string", "format": "date-time"}
_TEXTS: Final[dict[str, Any]] = {"type": "array", "items": _TEXT}
_PROPERTIES: Final[dict[str, Any]] = {"type": "object", "additionalProperties": _TEXT}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _parameters(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _post(operation_id: str, summary: str, where: list[str], body: str, answers: dict[str, str]) -> dict[str, Any]:
    return {
        "post": {
            "operationId": operation_id,
            "summary": summary,
            "tags": ["data plane"],
            "parameters": _parameters(*where),
            "requestBody": {"required": True, **_json(_ref(body))},
            "responses": {status: {"description": "", **_json(_ref(name))} for status, name in answers.items()},
        }
    }


DATA_PLANE_SCHEMAS: Final[dict[str, Any]] = {
    "ProduceMessage": _object(
        ["body"],
        entry_id=_TEXT,
        keys=_TEXTS,
        tag={"type": ["string", "null"]},
        properties=_PROPERTIES,
        ordering_key={"type": ["string", "null"]},
        delay_ms={"type": "integer", "minimum": 0},
        body=_ref("MessageBody"),
    ),
    "ProduceBatch": _object(
        ["messages"],
        messages={"type": "array", "items": _ref("ProduceMessage"), "minItems": 1},
        options={"type": "object"},
    ),
    "Produce": {"anyOf": [_ref("ProduceMessage"), _ref("ProduceBatch")]},
    "ProduceResult": _object(
        ["entry_id", "status"],
        entry_id=_TEXT,
        status={"type": "string", "enum": ["stored", "stored_not_flushed", "unknown", "failed"]},
        message_id=_TEXT,
        queue_id={"type": "integer"},
        offset={"type": "integer"},
        stored_at=_MOMENT,
        problem={"type": "object"},
    ),
    "Produced": _object(
        ["results", "stored", "failed"],
        results={"type": "array", "items": _ref("ProduceResult")},
        stored={"type": "integer"},
        failed={"type": "integer"},
    ),
    "Receive": _object(
        [],
        max_messages={"type": "integer", "minimum": 1, "maximum": 32},
        wait_ms={"type": "integer", "minimum": 0, "maximum": 30000},
        lease_ms={"type": "integer", "minimum": 1000, "maximum": 43200000},
        filter=_object(["type", "expression"], type={"type": "string", "enum": ["tag"]}, expression=_TEXT),
        attempt_id=_TEXT,
        body_encoding={"type": "string", "enum": ["auto", "json", "text", "base64"]},
    ),
    "LeasedMessage": _object(
        ["message_id", "topic", "queue_id", "offset", "body", "receipt", "delivery_count", "lease_expires_at"],
        message_id=_TEXT,
        topic=_TEXT,
        queue_id={"type": "integer"},
        offset={"type": "integer"},
        keys=_TEXTS,
        tag={"type": ["string", "null"]},
        properties=_PROPERTIES,
        body=_ref("MessageBody"),
        born_at=_MOMENT,
        stored_at=_MOMENT,
        delivery_count={"type": "integer"},
        receipt=_TEXT,
        lease_expires_at=_MOMENT,
    ),
    "Received": _object(
        ["messages", "waited_ms", "reason"],
        messages={"type": "array", "items": _ref("LeasedMessage")},
        waited_ms={"type": "integer"},
        reason=_TEXT,
    ),
    "Receipts": _object(
        ["receipts"],
        receipts={**_TEXTS, "minItems": 1},
        delay_ms={"type": "integer", "minimum": 0},
        lease_ms={"type": "integer", "minimum": 1000},
        reason=_TEXT,
        dead_letter={"type": "boolean"},
    ),
    "Settled": _object(["results"], results={"type": "array", "items": {"type": "object"}}),
}

_TOPIC: Final = "/api/v1/clusters/{cluster}/topics/{topic}"
_LEASE: Final = "/api/v1/clusters/{cluster}/groups/{group}/topics/{topic}"
_WHERE: Final = ["cluster", "group", "topic"]

DATA_PLANE_PATHS: Final[dict[str, Any]] = {
    f"{_LEASE}:receive": _post("receiveMessages", "Receive by lease.", _WHERE, "Receive", {"200": "Received"}),
    f"{_LEASE}:ack": _post("ackMessages", "Acknowledge.", _WHERE, "Receipts", {"200": "Settled"}),
    f"{_LEASE}:nack": _post(
        "nackMessages", "Give back, to be delivered again.", _WHERE, "Receipts", {"200": "Settled"}
    ),
    f"{_LEASE}:extend": _post("extendLeases", "Keep for longer.", _WHERE, "Receipts", {"200": "Settled"}),
}
PRODUCE: Final = _post(
    "produceMessages",
    "Send one message or a batch.",
    ["cluster", "topic"],
    "Produce",
    {"201": "Produced", "207": "Produced"},
)
PRODUCE_PATH: Final = f"{_TOPIC}/messages"
