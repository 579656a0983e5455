"""A body to begin with for each operation that takes one: what it needs, with values that the gateway accepts.

They speak of one made-up installation: topic ``parcels`` with consumer group ``depot`` in the cluster ``local``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gateway.control.data_plane_paths import Schema

_TOPIC: Final = "parcels"
_GROUP: Final = "depot"
_BODY: Final = {"encoding": "json", "data": {"id": "P1", "weight": 1.1}}
_RULES: Final = [{"kind": "topic", "pattern": "parcels*", "allow": ["read", "bodies"]}]
_LIMITS: Final = {"metric": "group_lag", "cluster": "local", "subject": _GROUP, "limit": 1000}
_REPLAY: Final = {"type": "replay", "source": {"topic": _TOPIC}, "target": {"topic": "parcels-copy"}}
_SEARCH: Final = {"mode": "key", "topic": _TOPIC, "key": "P1"}
_SERVERS: Final = {"name_servers": ["127.0.0.1:9876"]}
_SETTINGS: Final = {"settings": {"flushDiskType": "ASYNC_FLUSH"}}
_RECEIPTS: Final = {"receipts": ["v3.as-it-was-received"]}
_PHRASE: Final = "a long sentence of my own"
# A file with one topic, as `GET /definitions` gives it.
_FILE: Final = {
    "format": "gantry.definitions/1",
    "clusters": [{"name": "local", "topics": [{"name": "parcels-2"}]}],
}

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "login": {"username": "admin", "password": _PHRASE},
    "changePassword": {"current": _PHRASE, "new": "another sentence of my own"},
    "updateMe": {"language": "en"},
    "saveSearch": {"name": "parcel P1", "cluster": "local", "query": _SEARCH},
    "updateSavedSearch": {"name": "first parcel"},
    "checkAccess": {"verb": "produce", "kind": "topic", "resource": _TOPIC},
    "coverPatterns": {"patterns": [{"kind": "topic", "pattern": "parcels*"}]},
    "createToken": {"name": "depot-service", "scopes": ["read", "consume:parcels*"]},
    "createUser": {"username": "wren", "password": _PHRASE, "role": "viewer"},
    "updateUser": {"is_active": True},
    "createRole": {"name": "parcel-desk", "rules": _RULES},
    "updateRole": {"rules": _RULES},
    "createCluster": {"name": "east", **_SERVERS},
    "updateCluster": _SERVERS,
    "probeCluster": _SERVERS,
    "previewBrokerSettings": _SETTINGS,
    "updateBrokerSettings": _SETTINGS,
    "createBrokerAccount": {
        "access_key": "depot-service",
        "topic_permissions": {_TOPIC: "SUB"},
        "group_permissions": {_GROUP: "SUB"},
    },
    "updateBrokerAccount": {"topic_permissions": {_TOPIC: "PUB|SUB"}},
    "setGlobalAddresses": {"global_white_addresses": ["10.0.0.7"]},
    "createTopic": {"name": _TOPIC},
    "updateTopic": {"permission": "rw"},
    "updateTopics": {"topics": [_TOPIC], "permission": "rw"},
    "updateTopicQueues": {"brokers": [{"broker": "broker-a", "read_queues": 4, "write_queues": 4}]},
    "setTopicNote": {"text": "What leaves the depot. Ask the *parcel desk*."},
    "pauseTopic": {"stop": "delivery"},
    "purgeTopic": {"queues": [{"broker": "broker-a", "queue_id": 0, "before": 0}]},
    "analyzeTopic": {"sample": 1000},
    "deleteTopics": {"topics": [_TOPIC]},
    "createGroup": {"name": _GROUP},
    "updateGroup": {"retry_max_times": 16},
    "cloneGroup": {"name": "depot-2"},
    "pauseGroups": {"groups": [_GROUP]},
    "resumeGroups": {"groups": [_GROUP]},
    "deleteGroups": {"groups": [_GROUP]},
    "previewOffsets": {"topic": _TOPIC, "mode": "earliest"},
    "applyOffsets": {"plan_id": "from-a-preview"},
    "undoOffsets": {"snapshot_id": "from-the-list"},
    "previewOffsetsOfGroups": {"groups": [_GROUP], "mode": "earliest"},
    "applyOffsetsOfGroups": {"plans": [{"group": _GROUP, "plan_id": "from-a-preview"}]},
    "undoOffsetsOfGroups": {"snapshots": [{"group": _GROUP, "snapshot_id": "from-the-list"}]},
    "produceMessages": {"body": _BODY, "keys": ["P1"]},
    "commitTransaction": {"reason": "the order was paid"},
    "rollbackTransaction": {"reason": "the order was cancelled"},
    "createTransactionHook": {"group": "payments", "url": "https://payments.example.org/gantry/checks"},
    "updateTransactionHook": {"enabled": True},
    "receiveMessages": {"max_messages": 1},
    "ackMessages": _RECEIPTS,
    "nackMessages": _RECEIPTS,
    "extendLeases": _RECEIPTS,
    "lookUpKeys": {"topic": _TOPIC, "keys": ["P1"]},
    "scanMessages": {"fields": [{"path": "$.id", "operator": "eq", "value": "P1"}]},
    "resendMessage": {"topic": _TOPIC},
    "deliverMessage": {"topic": _TOPIC, "group": _GROUP},
    "rescheduleMessage": {"delay_ms": 60_000},
    "redriveDeadLetters": {"filter": {"topics": [_TOPIC]}, "target": {"to": "failed_group"}},
    "startJob": _REPLAY,
    "replayMissing": {"dry_run": True},
    "updateJob": {"limits": {"messages_per_second": 500}},
    "createSchedule": {"name": "nightly copy", "cron": "0 3 * * *", "job": _REPLAY},
    "updateSchedule": {"cron": "0 4 * * *"},
    "previewSchedule": {"cron": "0 3 * * *"},
    "adoptReplicas": {"in_sync": [1, 2], "of_cluster": "DefaultCluster"},
    "updateReplicaPolicy": {"min_in_sync": 2},
    "createAlertChannel": {"name": "duty", "kind": "webhook", "url": "https://alerts.example.org/gantry"},
    "updateAlertChannel": {"enabled": True},
    "createAlertRule": {"name": "depot falls behind", **_LIMITS},
    "updateAlertRule": {"limit": 2000},
    "previewAlertRule": _LIMITS,
    "acknowledgeAlert": {"note": "The parcel desk looks into it."},
    # In the far future, so that it stays valid.
    "createSilence": {
        "starts_at": "2040-01-01T22:00:00Z",
        "ends_at": "2040-01-02T04:00:00Z",
        "reason": "The depot moves.",
    },
    "diffDefinitions": {"definitions": _FILE},
    "applyDefinitions": {"definitions": _FILE},
}
"""By the name of the operation in the OpenAPI document."""


def add_examples(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Add to the JSON body of each operation its example; the console's page of the API begins with it."""
    for operations in result["paths"].values():
        for operation in operations.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body is not None:
                body["example"] = EXAMPLES[operation["operationId"]]
    return result
