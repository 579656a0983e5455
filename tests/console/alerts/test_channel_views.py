"""Channels and the delivery log over HTTP: nothing secret is shown."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from console.alerts.models import Delivery
from console.audit.models import AuditRecord
from tests.support.cast import Cast

PATH = "/api/v1/alert-channels"
HOOK: dict[str, Any] = {
    "name": "oncall", "kind": "webhook", "url": "https://example.org:8443/T0/s3cret", "secret": "k3y"
}  # fmt: skip


def test_a_channel_shows_where_it_leads_and_no_secret(cast: Cast) -> None:
    operator = cast.browser("operator")
    made = operator.post(PATH, HOOK, format="json")
    assert made.status_code == 201, made.content
    shown = made.json()
    assert (shown["target"], shown["has_secret"], shown["rules"]) == ("https://example.org:8443/…", True, 0)
    everything = made.content + operator.get(PATH).content + repr(AuditRecord.objects.values()).encode()
    assert b"s3cret" not in everything
    assert b"k3y" not in everything
    path, tag = f"{PATH}/{shown['id']}", {"if-match": shown["etag"]}
    changed = operator.patch(path, {"enabled": False}, format="json", headers=tag)
    assert changed.json()["enabled"] is False
    assert operator.delete(path, headers=tag).status_code == 412
    assert operator.delete(path, headers={"if-match": changed.json()["etag"]}).status_code == 204


def test_a_new_secret_says_until_when_the_former_one_signs(cast: Cast) -> None:
    operator = cast.browser("operator")
    channel = operator.post(PATH, HOOK, format="json").json()
    path, tag = f"{PATH}/{channel['id']}", {"if-match": "*"}
    assert channel["former_secret_until"] is None
    changed = operator.patch(path, {"secret": "n3w"}, format="json", headers=tag).json()
    assert changed["former_secret_until"] is not None
    assert not {"n3w", "k3y"} & set(str(changed).split("'"))
    ended = operator.patch(path, {"secret": "n3w", "secret_overlap_ms": 0}, format="json", headers=tag).json()
    assert ended["former_secret_until"] is None
    alone = operator.patch(path, {"secret_overlap_ms": 0}, format="json", headers=tag)
    assert (alone.status_code, alone.json()["errors"][0]["pointer"]) == (422, "#/secret_overlap_ms")


def test_a_test_is_a_delivery_that_can_be_tried_again(cast: Cast) -> None:
    operator = cast.browser("operator")
    channel = operator.post(PATH, HOOK, format="json").json()
    answer = operator.post(f"{PATH}/{channel['id']}:test")
    assert (answer.status_code, answer.json()["state"], answer.json()["event"]) == (202, "waiting", "test")
    path = answer.headers["Location"]
    assert operator.get(path).json()["id"] == answer.json()["id"]
    assert operator.post(f"{path}:retry").status_code == 202
    Delivery.objects.update(state="delivered")
    assert operator.post(f"{path}:retry").status_code == 409
    log = operator.get("/api/v1/deliveries", {"channel": channel["id"], "state": "delivered"}).json()
    assert [each["title"] for each in log["items"]] == ["Test of the channel oncall"]
    assert operator.get("/api/v1/deliveries", {"alert": "nobody"}).json()["items"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**HOOK, "url": "ftp://example.org"}, "#/url"),
        ({**HOOK, "url": "https://ann:pw@example.org"}, "#/url"),
        ({**HOOK, "url": "http://x:99999/"}, "#/url"),
        ({**HOOK, "url": "http://x:0/"}, "#/url"),
        ({**HOOK, "url": "http://x/a b"}, "#/url"),
        ({**HOOK, "url": " http://x/"}, "#/url"),
        ({**HOOK, "url": "http://x/\u200b"}, "#/url"),
        ({**HOOK, "url": "http://x/#a"}, "#/url"),
        ({**HOOK, "url": "http://%31.example.org/"}, "#/url"),
        ({**HOOK, "url": "http://127.0.0.1/"}, "#/url"),
        ({"name": "n", "kind": "webhook"}, "#/url"),
        ({**HOOK, "recipients": ["ann@example.org"]}, "#/recipients"),
        ({"name": "n", "kind": "email", "recipients": ["ann@example.org"]}, "#/kind"),
        ({"name": "n", "kind": "pigeon"}, "#/kind"),
    ],
)
def test_a_channel_that_leads_nowhere_is_refused_by_name(cast: Cast, body: dict[str, Any], pointer: str) -> None:
    answer = cast.browser("operator").post(PATH, body, format="json")
    assert answer.status_code == 422, answer.content
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "0", "2130706433", "0x7f.1", "127\u30020\u30020\u30021", "10.0.0.1", "169.254.169.254",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[fd00::1]",
    ],
)  # fmt: skip
def test_an_address_that_is_not_posted_to_is_refused_when_it_is_written(
    cast: Cast, settings: Settings, host: str
) -> None:
    operator = cast.browser("operator")
    refused = operator.post(PATH, {**HOOK, "url": f"http://{host}:8080/hook"}, format="json")
    assert refused.status_code == 422, refused.content
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "#/url"
    assert "is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it" in error["detail"]
    channel = operator.post(PATH, HOOK, format="json").json()
    path, body = f"{PATH}/{channel['id']}", {"url": f"http://{host}/"}
    assert operator.patch(path, body, format="json", headers={"If-Match": "*"}).status_code == 422
    settings.GANTRY_WEBHOOK_NETWORKS = ["0.0.0.0/0", "::/0"]
    assert operator.patch(path, body, format="json", headers={"If-Match": "*"}).status_code == 200


def test_mail_needs_recipients_that_are_addresses(cast: Cast, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    operator = cast.browser("operator")
    body = {"name": "team", "kind": "email", "recipients": ["ann@example.org"]}
    assert operator.post(PATH, body, format="json").json()["target"] == "ann@example.org"
    assert operator.post(PATH, {**body, "recipients": ["ann"]}, format="json").status_code == 422
    twice = operator.post(PATH, {**body, "recipients": ["ann@example.org"] * 2}, format="json")
    assert [error["pointer"] for error in twice.json()["errors"]] == ["#/recipients/1"]
