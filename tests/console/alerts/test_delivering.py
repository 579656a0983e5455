"""Requirements of deliveries: webhooks and mail over real sockets, retries, and who hears of what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.alerts import channels, delivering, journal, notices, reminders, silences, webhook
from console.alerts.addresses import NotReachable, allowed, is_allowed
from console.alerts.board import Change
from console.alerts.life import QUIET, Life
from console.alerts.models import Alert, Channel, Delivery, Rule
from console.alerts.webhook import signature
from console.clusters.services import ensure_embedded
from tests.console.alerts.conftest import BY, rule
from tests.console.alerts.receivers import Hook, Mailbox, dripping_hook, mail_server, web_hook

pytestmark = pytest.mark.django_db
T = 1_700_000_000_000


@pytest.fixture
def hook(settings: Settings) -> Iterator[Hook]:
    """A receiver of webhooks that may be reached."""
    settings.GANTRY_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with web_hook() as found:
        yield found


@pytest.fixture
def box(settings: Settings) -> Iterator[Mailbox]:
    """A mail server."""
    with mail_server() as found:
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", found.port, False
        yield found


def channel(hook: Hook, name: str = "oncall", **fields: Any) -> Channel:
    return channels.add(BY, {"name": name, "kind": "webhook", "url": hook.url, "secret": "s3cret", **fields})


def fires(of: Rule, *subjects: str, now: int = T) -> None:
    after = Life("firing", now, crossed_at=now, fired_at=now)
    journal.write("local", [Change(of.pk, subject, QUIET, after, 101.0) for subject in subjects], now)


def resolves(of: Rule, subject: str) -> None:
    before = Life("firing", T, crossed_at=T, fired_at=T)
    journal.write("local", [Change(of.pk, subject, before, Life("quiet", T + 1), 1.0)], T + 1)


def events() -> list[str]:
    return list(Delivery.objects.order_by("id").values_list("event", flat=True))


def test_all_that_fires_in_one_round_is_one_signed_delivery(hook: Hook) -> None:
    fires(rule(channels=[channel(hook)]), "billing", "orders")
    kept = Delivery.objects.get()
    done = delivering.attempt(kept.pk)
    assert done is not None
    assert (done.state, done.attempts[0]["status"], done.attempts[0]["answer"]) == ("delivered", 202, "thanks")
    ((headers, body),) = hook.posted
    sent = json.loads(body)
    assert (sent["event"], sent["count"], sent["delivery"]) == ("firing", 2, kept.pk)
    assert sent["title"] == "lag is firing: billing and 1 more in local has 101, the limit is 100"
    assert [each["subject"] for each in sent["alerts"]] == ["billing", "orders"]
    seconds, signed = (part.partition("=")[2] for part in headers["Gantry-Signature"].split(","))
    assert signed == signature("s3cret", int(seconds), body)
    assert delivering.attempt(kept.pk) is None, "it is sent once"


def test_a_new_secret_and_the_former_one_sign_for_a_while(hook: Hook) -> None:
    kept = channel(hook)
    channels.change(BY, kept, {"secret": "new", "secret_overlap_ms": 60_000})
    assert channels.secrets_of(kept, timezone.now()) == ("new", "s3cret")
    assert channels.secrets_of(kept, timezone.now() + timedelta(minutes=2)) == ("new",)
    delivering.attempt(notices.test(BY, kept).pk)
    ((headers, body),) = hook.posted
    (_, seconds), *signed = (part.split("=") for part in headers["Gantry-Signature"].split(","))
    assert signed == [["v1", signature(secret, int(seconds), body)] for secret in ("new", "s3cret")]
    # One that leaked signs no more, with a new one or without
    channels.change(BY, kept, {"secret": "new", "secret_overlap_ms": 0})
    assert channels.secrets_of(kept, timezone.now()) == ("new",)
    channels.change(BY, kept, {"secret": ""})
    assert channels.secrets_of(kept, timezone.now()) == ()


def test_a_failed_delivery_is_tried_five_times_with_pauses_and_then_when_somebody_asks(hook: Hook) -> None:
    hook.status, hook.answer = 503, b"\0busy" * 1000
    kept = notices.test(BY, channel(hook))
    done: Delivery | None = None
    for number in range(1, 6):
        Delivery.objects.filter(pk=kept.pk).update(next_at=timezone.now())
        done = delivering.attempt(kept.pk)
        assert done is not None
        assert (len(done.attempts), done.state) == (number, "waiting" if number < 5 else "failed")
        if number < 5:
            assert done.next_at is not None
            assert done.next_at > timezone.now() + delivering.WAITS[number - 1] - timedelta(seconds=20)
    assert done is not None
    assert done.attempts[-1]["error"] == "127.0.0.1 answered 503"
    assert len(done.attempts[-1]["answer"]) <= 500
    hook.status = 200
    delivering.again(BY, kept.pk)
    found = delivering.attempt(kept.pk)
    assert found is not None
    assert found.state == "delivered"


def test_a_webhook_reaches_no_private_address_and_follows_no_redirect(hook: Hook, settings: Settings) -> None:
    kept = channel(hook)
    hook.status, hook.location = 302, "http://169.254.169.254/"
    done = delivering.attempt(notices.test(BY, kept).pk)
    assert done is not None
    assert done.attempts[0]["error"] == "127.0.0.1 answered 302"
    settings.GANTRY_WEBHOOK_NETWORKS = []
    done = delivering.attempt(notices.test(BY, kept).pk)
    assert done is not None
    assert "127.0.0.1, which is not public" in done.attempts[0]["error"]
    assert len(hook.posted) == 1


@pytest.mark.parametrize(
    ("address", "may"),
    [("93.184.216.34", True), ("10.1.2.3", False), ("169.254.169.254", False), ("224.0.0.1", False), ("::1", False),
     ("fd00::1", False), ("2606:4700::1111", True), ("192.168.7.7", True)],
)  # fmt: skip
def test_only_public_addresses_and_the_given_networks_are_reached(address: str, may: bool) -> None:
    assert is_allowed(ip_address(address), ["192.168.7.0/24"]) == may


@pytest.mark.parametrize(
    "address",
    [
        "fec0::1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808",
        "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::1", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1",
        "::ffff:127.0.0.1", "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:10.0.0.1", "3fff::1", "5f00::1", "4000::1",
        "::", "ff02::1", "100::1",
    ],
)  # fmt: skip
def test_an_address_counts_as_what_it_leads_to(address: str) -> None:
    assert not is_allowed(ip_address(address), [])


def test_nat64_leads_to_public_addresses_and_to_the_given_networks() -> None:
    assert is_allowed(ip_address("64:ff9b::808:808"), [])
    assert is_allowed(ip_address("2002:808:808::1"), [])
    assert is_allowed(ip_address("64:ff9b::10.1.2.3"), ["10.0.0.0/8"])
    assert is_allowed(ip_address("fec0::1"), ["fec0::/10"])


async def test_a_literal_address_that_leads_home_is_refused_by_name() -> None:
    with pytest.raises(NotReachable, match="not public"):
        await allowed("64:ff9b::7f00:1", 80, [])


def test_who_took_a_delivery_and_is_late_with_the_answer_has_got_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GANTRY_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(webhook, "DEADLINE_SECONDS", 1.0)
    with dripping_hook() as slow:
        kept = channels.add(BY, {"name": "slow", "kind": "webhook", "url": slow.url})
        late = delivering.attempt(notices.test(BY, kept).pk)
        slow.begin = b"HTTP/1.1 202 Accepted\r\nContent-Length: 1000\r\n\r\nth"
        taken = delivering.attempt(notices.test(BY, kept).pk)
    assert late is not None
    assert (late.state, late.attempts[0]["error"]) == ("waiting", "127.0.0.1 did not answer within 1 s")
    assert taken is not None
    assert (taken.state, taken.attempts[0]["status"], taken.attempts[0]["answer"][:3]) == ("delivered", 202, "tha")


def test_mail_goes_to_all_recipients(box: Mailbox) -> None:
    fields = {"name": "team", "kind": "email", "recipients": ["ann@example.org", "bob@example.org"]}
    of = rule(channels=[channels.add(BY, fields)], template="{severity}: {subject} has\n{value}")
    fires(of, "billing")
    done = delivering.attempt(Delivery.objects.get().pk)
    assert done is not None
    assert (done.state, box.recipients) == ("delivered", ["ann@example.org", "bob@example.org"])
    assert "Subject: [Gantry] warning: billing has 101" in box.mails[0]
    assert "firing  local/billing  101" in box.mails[0]


def test_what_a_mail_server_refuses_is_in_the_log(box: Mailbox, settings: Settings) -> None:
    box.refusal = b"550 no such user\r\n"
    kept = channels.add(BY, {"name": "team", "kind": "email", "recipients": ["ann@example.org"]})
    done = delivering.attempt(notices.test(BY, kept).pk)
    assert done is not None
    assert (done.state, "550" in done.attempts[0]["error"]) == ("waiting", True)
    settings.EMAIL_HOST = ""
    done = delivering.attempt(notices.test(BY, kept).pk)
    assert done is not None
    assert "GANTRY_SMTP_HOST" in done.attempts[0]["error"]


def test_the_end_is_told_to_who_heard_of_the_beginning(hook: Hook) -> None:
    of = rule(channels=[channel(hook), channel(hook, "off", enabled=False)])
    fires(of, "billing")
    resolves(of, "billing")
    assert events() == ["firing", "resolved"]


def test_a_silence_keeps_quiet_and_its_end_does_not(hook: Hook) -> None:
    ensure_embedded()
    of = rule(channels=[channel(hook)])
    now = timezone.now()
    silence = silences.add(
        BY,
        {"subject": "bill*", "starts_at": now - timedelta(hours=1), "ends_at": now + timedelta(hours=1), "reason": "r"},
    )
    at = int(now.timestamp() * 1000)
    fires(of, "billing", now=at)
    assert (events(), reminders.remind(now)) == ([], 0)
    silences.end(BY, silence)
    reminders.remind(timezone.now() + timedelta(seconds=1))
    assert events() == ["firing"]


def test_what_still_fires_is_told_again_until_somebody_acknowledges(hook: Hook) -> None:
    of = rule(channels=[channel(hook)], repeat_ms=60_000)
    now = timezone.now()
    fires(of, "billing", now=int(now.timestamp() * 1000))
    reminders.remind(now + timedelta(seconds=59))
    assert events() == ["firing"]
    reminders.remind(now + timedelta(seconds=61))
    assert events() == ["firing", "repeat"]
    Alert.objects.update(acknowledged_at=T, acknowledged_by="ann")
    reminders.remind(now + timedelta(seconds=200))
    assert events() == ["firing", "repeat"]


def test_any_part_of_gantry_can_notify(hook: Hook) -> None:
    (kept,) = notices.notify([channel(hook)], "replay ended", {"job": "j1", "state": "failed"})
    delivering.attempt(kept.pk)
    sent = json.loads(hook.posted[0][1])
    assert (sent["event"], sent["title"], sent["details"]) == (
        "notice", "replay ended", {"job": "j1", "state": "failed"}
    )  # fmt: skip


def test_alerts_of_a_removed_cluster_end_and_old_ones_are_forgotten(hook: Hook) -> None:
    of = rule(channels=[channel(hook)])
    fires(of, "billing")
    now = timezone.now()
    assert reminders.end_orphans(now) == 1
    reminders.forget(now + timedelta(days=29))
    assert Alert.objects.count() == 1
    reminders.forget(now + timedelta(days=31))
    assert Alert.objects.count() == 0
