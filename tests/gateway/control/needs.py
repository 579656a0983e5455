"""What each operation of the OpenAPI document needs: a table that a person wrote, apart from the code that decides.

An operation that is missing here, or here alone, fails `test_rights`: none can be added without saying who may call it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from console.accounts.rights import Verb

On = Literal["open", "own", "in person", "topic", "group", "list", "job", "schedule", "cluster", "everything"]
"""`open`: nobody must have signed in; `own`: whoever has; `in person`: with a session, or a token that may administer;
`list`: shows or takes several names, and the caller gets those that it may; `everything`: not limited to some names."""


class Need(NamedTuple):
    """The right that an operation needs, and on what; None: no right."""

    verb: Verb | None
    on: On


class Operation(NamedTuple):
    """An operation with the arguments of its path filled in."""

    method: str
    path: str
    name: str
    need: Need


_NEEDS: Final[Mapping[tuple[Verb | None, On], str]] = {
    (None, "open"): "login getCsrf",
    (None, "own"): """
        logout getMe getNaming createWsTicket checkAccess coverPatterns listAudit exportAudit
    """,
    (None, "in person"): """
        changePassword listTokens createToken deleteToken listMySessions endMySession endMyOtherSessions updateMe
        listSavedSearches saveSearch getSavedSearch updateSavedSearch deleteSavedSearch
    """,
    ("read", "topic"): """
        getTopic getTopicStats getTopicNote listTopicQueues listTopicGroups listTopicProducers browseMessages
        exportMessages scanMessages readQueue analyzeTopic getMessage listMessageDeliveries getMessageTimeline
        getMessageTrace searchMessages exportSearch
    """,
    ("read", "group"): """
        getGroup listGroupClients getGroupClient getGroupHistory listOffsetSnapshots listGroupSubscriptions
        getDeadLetterGroup listDeadLetterCauses exportDeadLetters listDeadLetters listRedriveOutcomes
    """,
    ("read", "list"): """
        listTopics listGroups listDeadLetterGroups listScheduled summarizeScheduled getScheduled lookUpKeys
        listTransactions getTransaction
        listClusters getCluster getOverview getOverviewHistory listEvents getDefinitions diffDefinitions
        listAlertRules getAlertRule previewAlertRule listAlerts getAlert countAlerts listSilences getSilence
    """,
    ("read", "cluster"): "getBrokerSettings getReplicas getReplicaHistory getReplicaPolicy getControllers",
    (
        "read",
        "job",
    ): "listJobs listJobWorkers getJob getJobLog getJobProgress getJobReport listJobArtefacts downloadArtefact",
    ("read", "schedule"): "listSchedules getSchedule listScheduleRuns previewSchedule",
    ("read", "everything"): """
        listHealthChecks getHealthCheck
        listAlertChannels getAlertChannel listDeliveries getDelivery listTransactionHooks getTransactionHook
    """,
    ("bodies", "topic"): "resendMessage deliverMessage getMessageBody",
    ("produce", "topic"): "produceMessages",
    ("produce", "list"): "rescheduleMessage recallMessage commitTransaction rollbackTransaction checkTransaction",
    ("consume", "topic"): "receiveMessages ackMessages nackMessages extendLeases",
    ("manage", "topic"): "updateTopic setTopicNote updateTopicQueues pauseTopic resumeTopic",
    ("manage", "group"): "updateGroup pauseGroup resumeGroup cloneGroup",
    ("manage", "list"): """
        createTopic updateTopics createGroup pauseGroups resumeGroups applyDefinitions
        acknowledgeAlert unacknowledgeAlert
    """,
    ("manage", "cluster"): "forgetBroker",
    ("manage", "everything"): """
        createAlertRule updateAlertRule deleteAlertRule
        createSilence endSilence createAlertChannel updateAlertChannel deleteAlertChannel testAlertChannel retryDelivery
        createTransactionHook updateTransactionHook deleteTransactionHook
    """,
    ("offsets", "group"): "previewOffsets applyOffsets undoOffsets",
    ("offsets", "list"): "previewOffsetsOfGroups applyOffsetsOfGroups undoOffsetsOfGroups",
    ("redrive", "group"): "redriveDeadLetters",
    ("delete", "topic"): "deleteTopic getTopicImpact purgeTopic",
    ("delete", "group"): "deleteGroup getGroupImpact",
    ("delete", "list"): "deleteTopics deleteGroups",
    ("jobs", "job"): "startJob updateJob cancelJob pauseJob resumeJob retryJob replayMissing",
    ("jobs", "schedule"): "createSchedule updateSchedule deleteSchedule runScheduleNow",
    ("admin", "cluster"): """
        previewBrokerSettings updateBrokerSettings
        previewNewReplica promoteReplica removeReplica acceptReplicaLoss adoptReplicas updateReplicaPolicy
        listBrokerAccounts createBrokerAccount getBrokerAccount updateBrokerAccount deleteBrokerAccount
        getGlobalAddresses setGlobalAddresses
    """,
    ("admin", "everything"): """
        listUsers createUser getUser updateUser deleteUser listSessions endSession
        listRoles createRole getRole updateRole deleteRole createCluster updateCluster deleteCluster probeCluster
    """,
}
NEEDS: Final[Mapping[str, Need]] = {name: Need(*key) for key, names in _NEEDS.items() for name in names.split()}
ALSO: Final[Mapping[str, Verb]] = {"cloneGroup": "read", "deliverMessage": "read"}
"""A second right that an operation needs on the name in its path."""

_USUAL: Final = {
    "cluster": "local",
    "queue_id": "0",
    "user_id": "999999",
    "token_id": "999999",
    "search_id": "999999",
    "replica": "999999",
    "name": "x",
}


def operations(document: Mapping[str, Any], **names: str) -> list[Operation]:
    """Return every operation of the document, with `names` for the arguments of its path."""
    arguments = {**_USUAL, **names}
    return [
        Operation(
            method.upper(),
            re.sub(r"{(\w+)}", lambda found: arguments.get(found[1], "nothing"), path),
            each["operationId"],
            NEEDS[each["operationId"]],
        )
        for path, methods in document["paths"].items()
        for method, each in methods.items()
    ]
