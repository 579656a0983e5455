"""Requirements of `console.accounts.permissions` on every route of the OpenAPI document, by the known cast."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from console.accounts.rights import Verb
from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until

pytestmark = pytest.mark.gantry_only("no broker takes part")

# Routes that people use before they have signed in, or about themselves.
OPEN = {"login", "getCsrf"}
OWN = {
    "logout", "getMe", "updateMe", "changePassword", "listTokens", "createToken", "deleteToken", "createWsTicket",
    "checkAccess", "coverPatterns", "listMySessions", "endMySession", "endMyOtherSessions",
    "listSavedSearches", "saveSearch", "getSavedSearch", "updateSavedSearch", "deleteSavedSearch",
}  # fmt: skip
# Reads that need a body.
READS_BY_POST = {
    "analyzeTopic", "lookUpKeys", "scanMessages", "deliverMessage", "previewSchedule", "previewAlertRule",
    "diffDefinitions",
}  # fmt: skip
VERBS = {
    "admin": {
        "listUsers", "createUser", "getUser", "updateUser", "deleteUser",
        "listSessions", "endSession",
        "listRoles", "createRole", "getRole", "updateRole", "deleteRole",
        "createCluster", "updateCluster", "deleteCluster", "probeCluster",
        "previewBrokerSettings", "updateBrokerSettings",
    },
    "manage": {
        "createTopic", "updateTopic", "updateTopicQueues", "updateTopics", "pauseTopic", "resumeTopic",
        "createGroup", "updateGroup", "listAudit", "exportAudit",
        "forgetBroker", "pauseGroup", "resumeGroup", "cloneGroup", "pauseGroups", "resumeGroups",
        "applyDefinitions",
        "createAlertRule", "updateAlertRule", "deleteAlertRule",
        "acknowledgeAlert", "unacknowledgeAlert", "createSilence", "endSilence",
        "createAlertChannel", "updateAlertChannel", "deleteAlertChannel", "testAlertChannel", "retryDelivery",
    },
    "bodies": {"resendMessage", "getMessageBody"},
    "offsets": {"previewOffsets", "applyOffsets", "undoOffsets"},
    "redrive": {"redriveDeadLetters"},
    "delete": {"deleteTopic", "deleteTopics", "getTopicImpact", "deleteGroup", "deleteGroups", "getGroupImpact"},
    "jobs": {
        "startJob", "cancelJob", "retryJob",
        "createSchedule", "updateSchedule", "deleteSchedule", "runScheduleNow",
    },
    "produce": {"produceMessages", "rescheduleMessage", "recallMessage"},
    "consume": {"receiveMessages", "ackMessages", "nackMessages", "extendLeases"},
}  # fmt: skip
ALLOWED = {
    "stranger": set[str](),
    "viewer": {"read"},
    "developer": {"read", "bodies", "produce", "consume"},
    "operator": {"read", "bodies", "produce", "consume", "manage", "offsets", "redrive", "delete", "jobs"},
    "admin": set(get_args(Verb)),
}
REFUSED = {401, 403}


def operations(control: Control, **names: str) -> list[tuple[str, str, str]]:
    """Return method, path and operation id of every route, with `names` for the arguments of its path."""
    document = control.as_("admin").get("/api/v1/openapi.json").json()
    arguments = {
        "cluster": "local",
        "queue_id": "0",
        "user_id": "999999",
        "token_id": "999999",
        "search_id": "999999",
        "name": "x",
        **names,
    }
    return [
        (
            method.upper(),
            re.sub(r"{(\w+)}", lambda found: arguments.get(found[1], "nothing"), path),
            each["operationId"],
        )
        for path, methods in document["paths"].items()
        for method, each in methods.items()
    ]


def verb_of(operation: str) -> str:
    """Return the verb that an operation requires."""
    return next((verb for verb, names in VERBS.items() if operation in names), "read")


def call(control: Control, role: str, method: str, path: str, **query: str) -> Any:
    body: dict[str, Any] | None = None if method in ("GET", "DELETE") else {}
    return control.as_(role).request(method, path, json=body, params=query)


@pytest.mark.parametrize("role", ALLOWED)
def test_each_role_may_what_its_verbs_allow_and_nothing_else(control: Control, role: str) -> None:
    for method, path, operation in operations(control):
        if operation in OPEN | OWN:
            continue
        answer = call(control, role, method, path)
        may = verb_of(operation) in ALLOWED[role]
        assert (answer.status_code not in REFUSED) == may, f"{role} {operation}: {answer.status_code} {answer.text}"


def test_a_route_that_changes_something_says_which_right_it_needs(control: Control) -> None:
    known = OPEN | OWN | READS_BY_POST | set[str]().union(*VERBS.values())
    assert [name for method, _, name in operations(control) if method != "GET" and name not in known] == []


# What shows several names, or none: the caller gets those that it may see.
OF_ANY_NAME = {
    "listTopics", "listGroups", "listDeadLetterGroups", "listClusters", "getCluster", "getNaming", "lookUpKeys",
    "pauseGroups", "resumeGroups", "deleteGroups",
    "createTopic", "createGroup", "deleteTopics", "updateTopics",
    "listScheduled", "summarizeScheduled", "getScheduled", "rescheduleMessage", "recallMessage",
    "getDefinitions", "diffDefinitions", "applyDefinitions",
}  # fmt: skip


@pytest.mark.parametrize(("stem", "may"), [("orders", True), ("payments", False), ("orders-secret", False)])
def test_a_role_of_ones_own_may_what_its_rules_say_and_nothing_else(control: Control, stem: str, may: bool) -> None:
    # Given a role with all rights on orders*, but none on *-secret-*
    name = control.name(stem)
    for method, path, operation in operations(control, topic=name, group=name):
        if operation in OPEN | OWN:
            continue
        # When it asks about topics and groups of that name, which need not exist
        body: dict[str, Any] | None = {"topic": name} if operation in {"resendMessage", "deliverMessage"} else {}
        body = None if method in ("GET", "DELETE") else body
        query = {"topic": name, "key": "k", "offset": "0", "dry_run": "true"}
        answer = control.as_("oncall").request(method, path, json=body, params=query)
        # Then the rules decide, and a refusal says which right is missing
        is_named = f"/{name}" in path or "/messages" in path
        wanted = operation in OF_ANY_NAME or (may and is_named)
        assert (answer.status_code not in REFUSED) == wanted, f"{operation} {path}: {answer.status_code} {answer.text}"
        assert answer.status_code != 500, f"{operation}: {answer.text}"
        if not wanted:
            assert "This needs the right" in answer.json()["detail"], operation


def test_lists_and_their_counts_leave_out_what_a_role_may_not_see(control: Control) -> None:
    # Given a topic that the role may see and one that a rule refuses
    shown, hidden = control.topic("orders"), control.topic("orders-secret")
    control.group("orders-secret")
    for kind in ("topics", "groups"):
        page = control.get(f"/{kind}", role="oncall", limit=500)
        names = [row["name"] for row in page["items"]]
        assert all(name.startswith("orders") and "-secret-" not in name for name in names)
        # Then no total tells of it either
        assert page["total"] == len(names)
    assert control.get("/topics", role="oncall", search=hidden)["counts"]["normal"] == 0
    assert control.get("/topics", role="oncall", search=shown)["counts"]["normal"] == 1
    groups = control.get("/dead-letters", role="oncall")["groups"]
    assert groups == control.get("/groups", role="oncall")["total"]


def test_what_a_deletion_hits_counts_names_that_a_role_may_not_see_without_naming_them(control: Control) -> None:
    # Given a topic that the role may delete, with a group that it may see and one that it may not
    topic, seen, hidden = control.topic("orders"), control.group("orders"), control.group("payments")
    control.produce(topic, "a")
    for group in (seen, hidden):
        control.consume(group, topic, 1)
    wait_until(lambda: len(control.get(f"/topics/{topic}/impact")["groups"]) == 2)
    # Then the impact names the one and counts the other
    impact = control.get(f"/topics/{topic}/impact", role="oncall")
    assert (impact["groups"], impact["hidden_groups"]) == ([seen], 1)
    assert hidden not in str(impact)


def test_a_revoked_token_may_nothing(control: Control) -> None:
    for method, path, operation in operations(control):
        if operation not in OPEN:
            assert call(control, "revoked", method, path).status_code == 401, operation


def test_a_stranger_is_asked_to_sign_in(control: Control) -> None:
    for method, path, operation in operations(control):
        if operation not in OPEN:
            answer = call(control, "stranger", method, path)
            assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED"), operation
            assert "www-authenticate" in answer.headers, operation


def test_a_token_for_some_names_reads_those_and_nothing_else(control: Control) -> None:
    # Given a token of a viewer, limited to orders*
    orders, payments = control.topic("orders"), control.topic("payments")
    of_orders, of_payments = control.group("orders"), control.group("payments")
    touching = {"topic", "group"}
    for topic, group, may in ((orders, of_orders, True), (payments, of_payments, False)):
        for method, path, operation in operations(control, topic=topic, group=group):
            if method != "GET" or operation in OPEN | OWN or verb_of(operation) != "read":
                continue
            # When it reads the resources of one topic or group
            answer = call(control, "narrow", method, path, topic=topic, key="k", offset="0")
            is_named = any(f"/{kind}s/" in path for kind in touching) or "/messages" in path or "/dead-letters/" in path
            # Then the name decides; of the resources of all names it gets only the lists, filtered
            lists = operation in {
                "listTopics",
                "listGroups",
                "listDeadLetterGroups",
                "listScheduled",
                "summarizeScheduled",
                "getScheduled",
                "listClusters",
                "getCluster",
                "getNaming",
                "getDefinitions",
            }
            wanted = may if is_named else lists
            assert (answer.status_code not in REFUSED) == wanted, f"{operation} {path}: {answer.status_code}"
    names = [row["name"] for kind in ("topics", "groups") for row in listed(control, kind)]
    assert {orders, of_orders} <= set(names)
    assert all(name.startswith("orders") for name in names)


def test_a_token_for_some_names_changes_nothing_with_another_one(control: Control) -> None:
    # Given a token that may manage only orders*
    made = control.as_("admin").post(
        "/api/v1/tokens", json={"name": control.name("t"), "scopes": ["manage:orders*", "read:orders*"]}
    )
    assert made.status_code == 201, made.text
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    stranger = control.as_("stranger")
    payments, orders = control.name("payments"), control.name("orders")
    for kind in ("topics", "groups"):
        path = f"/api/v1/clusters/local/{kind}"
        assert stranger.post(path, json={"name": payments}, headers=headers).status_code == 403
        assert stranger.post(path, json={"name": orders}, headers=headers).status_code == 201
    # Then it has no right to what touches all names
    for path in ("/api/v1/audit", "/api/v1/jobs", "/api/v1/clusters/local/overview"):
        assert stranger.get(path, headers=headers).status_code == 403, path
    assert stranger.delete("/api/v1/tokens/1", headers=headers).status_code == 403


def listed(control: Control, kind: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = control.get(f"/{kind}", role="narrow", limit=500)["items"]
    return rows


def test_a_missing_right_is_named_with_its_resource(control: Control) -> None:
    topic = control.topic("payments")
    answer = control.call("GET", f"/topics/{topic}", role="narrow")
    scopes = "The scopes of the token do not cover it: produce:orders*, read:orders*."
    assert answer.status_code == 403
    assert answer.json()["detail"] == f"This needs the right 'read' on topic {topic!r}. {scopes}"
    overview = control.call("GET", "/overview", role="narrow").json()["detail"]
    assert overview == f"This needs the right 'read' on everything. {scopes}"
