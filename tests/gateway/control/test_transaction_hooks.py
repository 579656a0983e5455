"""Requirements of `gateway.control.transaction_hooks`: hooks are kept, shown without what is secret, and limited."""

from __future__ import annotations

from typing import Any

import pytest

from console.transaction_hooks.services import MAX_HOOKS
from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.usefixtures("documented")

PATH = "/transaction-hooks"
URL = "https://payments.example.org:8443/T0/s3cret"


def made(control: Control, **fields: Any) -> dict[str, Any]:
    """Create a hook."""
    answer = control.call("POST", PATH, json={"group": control.name("payments"), "url": URL, **fields})
    assert answer.status_code == 201, answer.text
    assert answer.headers["etag"] == answer.json()["etag"]
    found: dict[str, Any] = answer.json()
    return found


def removed(control: Control, hook: dict[str, Any]) -> int:
    """Delete a hook; return the status."""
    return control.call("DELETE", f"{PATH}/{hook['id']}", headers={"If-Match": "*"}).status_code


@pytest.mark.gantry_only("no broker takes part")
def test_a_hook_shows_where_it_leads_and_nothing_secret(control: Control) -> None:
    hook = made(control, secret="k3y")
    path = f"{PATH}/{hook['id']}"
    assert (hook["target"], hook["has_secret"], hook["enabled"]) == ("https://payments.example.org:8443/…", True, True)
    assert (hook["last"], hook["last_failure"], hook["former_secret_until"]) == (None, None, None)
    assert control.get(path, role="viewer") == hook
    assert hook in control.get(PATH)["items"]
    changed = control.change("PATCH", path, json={"secret": "n3w"})
    assert changed.json()["former_secret_until"] is not None
    stale = control.call("PATCH", path, json={"enabled": False}, headers={"If-Match": hook["etag"]})
    assert stale.status_code == 412
    audit = control.as_("admin").get("/api/v1/audit", params={"resource": f"local/transaction-hooks/{hook['group']}"})
    assert [row["action"] for row in audit.json()["items"]] == ["transaction_hook.update", "transaction_hook.create"]
    assert not any(word in changed.text + audit.text for word in ("s3cret", "k3y", "n3w"))
    assert removed(control, hook) == 204
    assert control.call("GET", path).status_code == 404


@pytest.mark.gantry_only("no broker takes part")
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"group": "payments", "url": "ftp://example.org"}, "#/url"),
        ({"group": "payments", "url": "https://ann:pw@example.org"}, "#/url"),
        ({"group": "payments", "url": "http://127.0.0.1:9/"}, "#/url"),
        ({"group": "payments", "url": "http://example.org:0/"}, "#/url"),
        ({"group": "payments", "url": "http://example.org/a b"}, "#/url"),
        ({"group": "payments"}, "#/url"),
        ({"group": "two words", "url": URL}, "#/group"),
        ({"group": "CID_RMQ_SYS_TRANS", "url": URL}, "#/group"),
        ({"group": "GANTRY_GATEWAY", "url": URL}, "#/group"),
        ({"group": "payments", "url": URL, "topic": "orders"}, "#/topic"),
    ],
)
def test_a_hook_that_makes_no_sense_is_refused_by_name(control: Control, body: dict[str, Any], pointer: str) -> None:
    answer = control.call("POST", PATH, json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


@pytest.mark.gantry_only("no broker takes part")
def test_a_group_has_one_hook_and_a_cluster_not_too_many(control: Control) -> None:
    hooks = [made(control)]
    again = control.call("POST", PATH, json={"group": hooks[0]["group"], "url": URL})
    assert (again.status_code, again.json()["code"]) == (409, "ALREADY_EXISTS")
    while len(control.get(PATH, limit=100)["items"]) < MAX_HOOKS:
        hooks.append(made(control))
    more = control.call("POST", PATH, json={"group": control.name("payments"), "url": URL})
    assert (more.status_code, more.json()["code"]) == (409, "CONFLICT")
    assert {removed(control, hook) for hook in hooks} == {204}


@pytest.mark.gantry_only("no broker takes part")
def test_whoever_may_not_do_what_a_hook_does_registers_none(control: Control) -> None:
    # It gets the bodies of all topics, and commits to them
    body = {"group": control.name("payments"), "url": URL}
    hook = made(control)
    for scopes in (("read", "manage"), ("read", "manage", "produce"), ("read", "manage", "produce:orders*", "bodies")):
        headers = control.token(*scopes)
        assert control.call("POST", PATH, role="stranger", json=body, headers=headers).status_code == 403
        path, changed = f"{PATH}/{hook['id']}", {"url": "https://elsewhere.example.org/"}
        asked = control.call("PATCH", path, role="stranger", json=changed, headers={**headers, "If-Match": "*"})
        assert asked.status_code == 403
    assert control.call("POST", PATH, role="developer", json=body).status_code == 403
    headers = control.token("manage", "produce", "bodies")
    assert control.call("POST", PATH, role="stranger", json=body, headers=headers).status_code == 201
    for each in control.get(PATH)["items"]:
        assert removed(control, each) == 204
