"""Requirements of the rights, on every route: who may call what, by the table of `needs` and the known cast.

Identities that are nobody (any more), built-in roles, a role of one's own, tokens for one verb, for all but one, and
for one pattern of names are tried on every operation of the OpenAPI document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import httpx
import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from console.accounts.rights import Verb
from gateway.control.data_plane_paths import DATA_PLANE_PATHS
from gateway.data.routing import find_route
from tests.gateway.control.conftest import Control
from tests.gateway.control.needs import ALSO, NEEDS, Need, Operation, operations
from tests.gateway.installation import PASSWORD, Installation
from tests.support.wait import wait_until

pytestmark = pytest.mark.gantry_only("no broker takes part")

VERBS: tuple[Verb, ...] = get_args(Verb)
ALLOWED: dict[str, set[str]] = {
    "viewer": {"read"},
    "developer": {"read", "bodies", "produce", "consume"},
    "operator": {"read", "bodies", "produce", "consume", "manage", "offsets", "redrive", "delete", "jobs"},
}
REFUSED = {401, 403}
# They would end the session or the token of a caller that is used again.
ENDING = {"logout", "endMyOtherSessions", "changePassword"}
WITH_TOPIC_IN_BODY = {"resendMessage", "deliverMessage"}


@pytest.fixture(scope="session")
def document(control: Control) -> Any:
    """The served OpenAPI document."""
    return control.as_("admin").get("/api/v1/openapi.json").json()


def call(client: httpx.Client, operation: Operation, name: str = "", headers: dict[str, str] | None = None) -> Any:
    """Call an operation with next to nothing: those that get in are refused for what is missing."""
    has_body = operation.method not in ("GET", "DELETE")
    body = {"topic": name} if name and operation.name in WITH_TOPIC_IN_BODY else {}
    query = {"topic": name, "key": "k", "offset": "0", "dry_run": "true"} if name else None
    return client.request(
        operation.method, operation.path, json=body if has_body else None, params=query, headers=headers
    )


def check(client: httpx.Client, operation: Operation, may: bool, who: str, **options: Any) -> Any:
    """Call an operation, and compare who gets in with who may."""
    answer = call(client, operation, **options)
    told = f"{who}: {operation.method} {operation.path} {operation.name}: {answer.status_code} {answer.text[:400]}"
    assert (answer.status_code not in REFUSED) == may, told
    assert answer.status_code < 500 or answer.status_code == 503, told
    if not may and answer.status_code == 403:
        assert "This needs" in answer.json()["detail"], told
    return answer


def test_every_operation_of_the_document_says_which_right_it_needs(document: Any) -> None:
    names = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert sorted(names) == sorted(NEEDS)


def test_every_route_is_in_the_document(document: Any) -> None:
    # Given the routes of Django, with their methods, and those of the data plane
    served = {(method, path) for path, view in _routes(get_resolver()) for method in _methods(view)}
    assert len(served) > 100
    lease = "/api/v1/clusters/{cluster}/groups/{group}/topics/{topic}"
    served |= {("post", f"{lease}:{verb}") for verb in ("receive", "ack", "nack", "extend")}
    served |= {("post", "/api/v1/clusters/{cluster}/topics/{topic}/messages")}
    transaction = "/api/v1/clusters/{cluster}/transactions/{transaction_id}"
    served |= {("post", f"{transaction}:{verb}") for verb in ("commit", "rollback")}
    # Then the document has the same
    listed = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert listed == served
    of_data = [path for path, methods in DATA_PLANE_PATHS.items() for _ in methods]
    assert all(find_route("POST", path) for path in of_data)
    of_control = [path for method, path in served if method == "post" and path not in of_data]
    assert not any(find_route("POST", path) for path in of_control)


def _routes(resolver: URLResolver, above: str = "") -> Iterator[tuple[str, Any]]:
    """Return the paths of the API, as the document writes them, with their views."""
    for each in resolver.url_patterns:
        path = above + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes(each, path)
        elif isinstance(each, URLPattern) and path.startswith("api/v1/") and path != "api/v1/openapi.json":
            yield "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", path), each.callback


def _methods(view: Any) -> list[str]:
    return [name for name in ("get", "put", "post", "patch", "delete") if hasattr(view.cls, name)]


@pytest.mark.parametrize("who", ["stranger", "revoked", "expired", "disabled"])
def test_whoever_is_nobody_may_nothing(control: Control, document: Any, who: str) -> None:
    for operation in operations(document):
        if operation.need.on != "open":
            answer = call(control.as_(who), operation)
            assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED"), operation
            assert "www-authenticate" in answer.headers, operation


def test_a_session_changes_nothing_without_its_csrf_token(
    control: Control, document: Any, installation: Installation
) -> None:
    with installation.client(None) as browser:
        signed = browser.post("/api/v1/login", json={"username": "operator", "password": PASSWORD})
        assert signed.status_code == 200, signed.text
        for operation in operations(document):
            if operation.method != "GET" and operation.need.on != "open":
                answer = call(browser, operation)
                assert (answer.status_code, answer.json()["code"]) == (403, "CSRF_FAILED"), operation
        assert browser.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize("role", ALLOWED)
def test_each_role_may_what_its_verbs_allow_and_nothing_else(control: Control, document: Any, role: str) -> None:
    for operation in operations(document):
        verb, on = operation.need
        if operation.name not in ENDING and on != "open":
            # A token that may not administer does not extend its own rights.
            may = on != "in person" if verb is None else verb in ALLOWED[role]
            check(control.as_(role), operation, may, role)


def test_a_token_may_what_its_verbs_say_and_nothing_else(control: Control, document: Any) -> None:
    # Given for each verb a token of the admin with this verb alone, and one with all the others
    only = {verb: control.token(verb) for verb in VERBS}
    others = {verb: control.token(*(each for each in VERBS if each != verb)) for verb in VERBS}
    stranger = control.as_("stranger")
    for operation in operations(document):
        verb = "admin" if operation.need.on == "in person" else operation.need.verb
        if verb is not None and operation.name not in ENDING:
            alone = control.token(verb, ALSO[operation.name]) if operation.name in ALSO else only[verb]
            check(stranger, operation, True, f"only {verb}", headers=alone)
            check(stranger, operation, False, f"all but {verb}", headers=others[verb])


def may_with_names(need: Need, verbs: set[str], *, is_covered: bool) -> bool:
    """Return whether somebody with these verbs on some topics and groups gets in, for a name that is one or not."""
    if need.verb is None:
        return need.on == "own"
    named = need.on == "list" or (is_covered and need.on in ("topic", "group"))
    return named and need.verb in verbs


@pytest.mark.parametrize(("stem", "is_covered"), [("orders", True), ("payments", False), ("orders-secret", False)])
def test_a_role_of_ones_own_may_what_its_rules_say_and_nothing_else(
    control: Control, document: Any, stem: str, is_covered: bool
) -> None:
    # Given a role with all rights on orders*, but none on *-secret-*
    name = control.name(stem)
    verbs = {"read", "bodies", "produce", "consume", "manage", "offsets", "redrive", "delete"}
    for operation in operations(document, topic=name, group=name):
        if operation.name not in ENDING and operation.need.on != "open":
            # When it asks about topics and groups of that name, which need not exist, then the rules decide
            may = may_with_names(operation.need, verbs, is_covered=is_covered)
            check(control.as_("oncall"), operation, may, "oncall", name=name)


@pytest.mark.parametrize(("stem", "is_covered"), [("orders", True), ("payments", False)])
def test_a_token_limited_to_one_pattern_of_names_gets_only_the_allowed_ones_on_every_route(
    control: Control, document: Any, stem: str, is_covered: bool
) -> None:
    # Given the token of a viewer with the scopes produce:orders* and read:orders*, and a topic and a group that exist
    topic, group = control.topic(stem), control.group(stem)
    for operation in operations(document, topic=topic, group=group):
        if operation.name not in ENDING and operation.need.on != "open":
            may = may_with_names(operation.need, {"read"}, is_covered=is_covered)
            check(control.as_("narrow"), operation, may, "narrow", name=topic)
    # Then lists have those names alone
    names = [row["name"] for kind in ("topics", "groups") for row in listed(control, kind)]
    assert ({topic, group} <= set(names)) == is_covered
    assert all(name.startswith("orders") for name in names)


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


def test_a_group_is_shown_without_the_topics_that_a_role_may_not_see(control: Control) -> None:
    # Given a group that the role may see, which reads a topic that it may see and one that it may not
    group, seen, hidden = control.group("orders"), control.topic("orders"), control.topic("payments")
    for topic in (seen, hidden):
        control.produce(topic, "a", "b")
        control.consume(group, topic, 1)
    wait_until(lambda: set(control.get(f"/groups/{group}")["topics"]) >= {seen, hidden})
    for path in ("", "/impact", "/subscriptions", "/clients", "/offsets/snapshots"):
        assert hidden not in str(control.get(f"/groups/{group}{path}", role="oncall")), path
    found = control.get(f"/groups/{group}", role="oncall")
    assert seen in found["topics"]
    assert {queue["topic"] for queue in found["queues"]} >= {seen}
    assert found["topics_hidden"]
    assert not control.get(f"/groups/{group}")["topics_hidden"]
    listed = control.get("/groups", role="oncall", search=group)["items"]
    assert hidden not in str(listed)
    # Then a topic tells of no group either that the role may not see
    other = control.group("payments")
    control.consume(other, seen, 1)
    wait_until(lambda: control.get(f"/topics/{seen}")["groups"] == 2)
    assert control.get(f"/topics/{seen}", role="oncall")["groups"] == 1
    assert control.get(f"/topics/{seen}/groups", role="oncall")["items"][0]["name"] == group
    assert other not in str(control.get(f"/topics/{seen}/groups", role="oncall"))


def test_the_overview_of_a_role_has_the_figures_of_what_it_may_see(control: Control) -> None:
    group, topic = control.group("orders"), control.topic("orders")
    control.produce(topic, "a", "b", "c")
    control.consume(group, topic, 1)
    whole, mine = control.get("/overview"), control.get("/overview", role="oncall")
    assert (whole["limited"], mine["limited"]) == (False, True)
    rows = control.get("/groups", role="oncall", limit=500)["items"]
    assert mine["groups"] == len(rows)
    assert mine["topics"] == control.get("/topics", role="oncall")["total"]
    assert all(each["name"].startswith("orders") for each in mine["worst_groups"])
    # Then what all names have together is not told
    assert (mine["disk_used_ratio"], mine["uptime_ms"]) == (None, None)
    assert [(each["in_rate"], each["commit_log_bytes"]) for each in mine["brokers"]] == [(None, None)]
    history = control.get("/overview/history", role="oncall")
    assert all(name.startswith("orders") for name in history["group_lag"])
    assert set(history["series"]["in_rate"]) == {None}


def test_what_all_topics_have_together_and_who_sends_elsewhere_is_not_told_to_some(
    control: Control,
) -> None:
    topic, other = control.topic("orders"), control.topic("payments")
    control.produce(other, "a")
    assert any(each["is_gateway"] for each in control.get(f"/topics/{topic}/producers")["items"])
    assert control.get(f"/topics/{topic}/producers", role="oncall")["items"] == []
    if not control.is_apache:
        assert control.get("/scheduled/summary")["last_day"] is not None
        assert control.get("/scheduled/summary", role="oncall")["last_day"] is None


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
    for path in ("/api/v1/jobs", "/api/v1/health/checks"):
        assert stranger.get(path, headers=headers).status_code == 403, path
    assert stranger.delete("/api/v1/tokens/1", headers=headers).status_code == 403


def test_what_a_pattern_covers_is_unknown_while_a_cluster_is_not_known(control: Control) -> None:
    admin, topic = control.as_("admin"), control.topic("covered")
    asked = {"patterns": [{"kind": "topic", "pattern": "covered*"}]}
    for each in admin.get("/api/v1/clusters").json()["items"]:  # which others added, and left silent
        if each["name"] != "local" and not each["reachable"]:
            admin.delete(f"/api/v1/clusters/{each['name']}", headers={"If-Match": "*"})
    [known] = admin.post("/api/v1/access:coverage", json=asked).json()["items"]
    assert (known["count"], known["names"], known["unknown_reason"]) == (1, [topic], None)
    # When a cluster is added that does not answer, then it may have more
    dead = control.name("dead")
    made = admin.post("/api/v1/clusters", json={"name": dead, "name_servers": ["127.0.0.1:9"]})
    assert made.status_code == 201, made.text
    [unknown] = admin.post("/api/v1/access:coverage", json=asked).json()["items"]
    gone = admin.delete(f"/api/v1/clusters/{dead}", headers={"If-Match": "*"})
    assert gone.status_code == 204, gone.text
    assert (unknown["count"], unknown["names"]) == (None, [topic])
    assert dead in unknown["unknown_reason"]


def listed(control: Control, kind: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = control.get(f"/{kind}", role="narrow", limit=500)["items"]
    return rows


def test_a_missing_right_is_named_with_its_resource(control: Control) -> None:
    topic = control.topic("payments")
    answer = control.call("GET", f"/topics/{topic}", role="narrow")
    scopes = "The scopes of the token do not cover it: produce:orders*, read:orders*."
    assert answer.status_code == 403
    assert answer.json()["detail"] == f"This needs the right 'read' on topic {topic!r}. {scopes}"
    checks = control.as_("narrow").get("/api/v1/health/checks").json()["detail"]
    assert checks == f"This needs the right 'read' on everything. {scopes}"
