"""What an operator finds, changes and repairs, each flow in English and in Chinese."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.data import LOCAL, Data, consuming
from tests.browser.flow import Flow, flow_in
from tests.browser.pages import Console, signed_in, tab, wait_for_number, window
from tests.browser.words import LANGUAGES
from tests.console.alerts.receivers import web_hook
from tests.support.gantry import Gantry, Place
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

MESSAGES = 60


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest, data: Data) -> str:
    """A language, with two topics and a group that is behind in one."""
    spoken = str(request.param)
    data.create_topic(f"both-{spoken}")
    data.create_topic(f"both-{spoken}-other")
    data.send(f"both-{spoken}", *range(MESSAGES))
    data.take(f"both-{spoken}-reader", f"both-{spoken}", most=5)
    return spoken


@pytest.fixture
def flow(console: Console, language: str) -> Flow:
    """The flow of a test."""
    return flow_in(console, language, f"both-{language}")


# Messages


def test_two_messages_are_compared(flow: Flow) -> None:
    flow.console.open(f"/messages?topic={flow.topic}&key={flow.topic}-1")
    flow.console.row(f"{flow.topic}-1").click()
    flow.button("compare.first").click()
    flow.console.page.get_by_role("textbox", name=flow.t("messages.keyWords")).fill(f"{flow.topic}-2")
    flow.button("messages.search").click()
    flow.console.row(f"{flow.topic}-2").click()
    flow.console.page.get_by_role("button", name=re.compile(flow.t("compare.second", id="\\w{4}…\\w{6}"))).click()
    expect(flow.console.title).to_have_text(flow.t("compare.title"))
    flow.console.settled()
    for word in (f"{flow.topic}-1", f"{flow.topic}-2", "north", "south"):
        expect(flow.console.main).to_contain_text(word)


def test_a_message_is_handed_to_one_client_of_a_group(flow: Flow, gantry: Gantry) -> None:
    flow.console.open(f"/messages?topic={flow.topic}&key={flow.topic}-4")
    flow.console.row(f"{flow.topic}-4").click()
    flow.button("deliver.open").click()
    form = flow.console.page.get_by_role("complementary", name=flow.t("deliver.title"))
    with consuming(gantry, f"{flow.group}-native", f"{flow.topic}-other") as handled:
        form.get_by_label(flow.t("deliver.group"), exact=True).fill(f"{flow.group}-native")
        flow.button("deliver.action", form).click()
        expect(form).to_contain_text(flow.t("deliver.results.success"))
    assert handled == [f"{flow.topic}-4"]


def test_what_was_found_is_saved_with_bodies(flow: Flow, tmp_path: Path) -> None:
    flow.console.open(f"/messages?topic={flow.topic}&key={flow.topic}-8")
    expect(flow.console.row(f"{flow.topic}-8")).to_be_visible()
    for form in ("csv", "jsonl"):
        flow.button("find.save").click()
        whole = flow.t("find.withBodies", form=flow.t(f"find.forms.{form}"))
        with flow.console.page.expect_download() as waiting:
            flow.console.page.get_by_role("menuitem", name=whole, exact=True).click()
        waiting.value.save_as(tmp_path / form)
    assert "108" in (tmp_path / "csv").read_text(encoding="utf-8-sig")
    assert json.loads((tmp_path / "jsonl").read_text().splitlines()[0])["keys"] == [f"{flow.topic}-8"]


# Topics


def test_a_burst_of_bytes_and_a_file_are_produced(flow: Flow, data: Data, tmp_path: Path) -> None:
    topic = f"{flow.topic}-bytes"
    data.create_topic(topic)
    flow.console.open(f"/topics/{topic}?tab=produce")
    page = flow.console.page
    page.get_by_label(flow.t("produce.orderingKey")).fill("customer-1")
    page.get_by_text(flow.t("produce.encodings.hex"), exact=True).click()
    page.get_by_label(flow.t("produce.body"), exact=True).fill("00 ff 7f")
    page.get_by_text(flow.t("produce.sends.burst"), exact=True).click()
    page.get_by_label(flow.t("produce.count"), exact=True).fill("7")
    flow.button("produce.sendMany", topic=topic, n=7).click()
    flow.says("produce.progress", stored=7, total=7)
    (tmp_path / "picture").write_bytes(bytes(range(256)))
    page.locator("input[type=file]").set_input_files(tmp_path / "picture")
    page.get_by_text(flow.t("produce.sends.one"), exact=True).click()
    flow.button("produce.send", topic=topic).click()
    wait_for_number(flow.console.figure(flow.t("topics.messages")), lambda now: now == 8)
    stored = data.http.get(f"{LOCAL}/topics/{topic}/messages").json()["items"]
    assert sorted(each["size_bytes"] for each in stored)[-1] - sorted(each["size_bytes"] for each in stored)[0] >= 200
    queues = data.http.get(f"{LOCAL}/topics/{topic}/queues").json()["items"]
    assert sorted(each["count"] for each in queues)[-1] >= 7  # one ordering key, one queue


def test_a_topic_is_paused_resumed_made_read_only_and_purged(flow: Flow, data: Data) -> None:
    topic = f"{flow.topic}-passing"
    data.create_topic(topic)
    data.send(topic, *range(9))
    flow.console.open(f"/topics/{topic}?tab=queues")
    wait_for_number(flow.console.figure(flow.t("topics.messages")), lambda now: now == 9)
    flow.choose("bulkTopics.pause")
    flow.confirm("bulkTopics.pauseNamed", topic=topic)
    flow.says("bulkTopics.pausedDone", topic=topic)
    flow.choose("bulkTopics.resume")
    flow.says("bulkTopics.resumedDone", topic=topic)
    flow.console.page.get_by_role("combobox", name=flow.t("topics.permission")).click()
    flow.console.page.get_by_role("option", name=flow.t("topics.permissions.r")).click()
    flow.says("topics.effects.sends_stop")
    flow.button("topics.changeBrokers", count=1).click()
    flow.says("topics.changed", topic=topic)
    refused = data.http.post(f"{LOCAL}/topics/{topic}/messages", json={"body": {"encoding": "text", "data": "x"}})
    assert refused.json()["code"] == "TOPIC_READ_ONLY"
    flow.choose("purge.menu")
    flow.confirm("purge.named", typed=topic, topic=topic)
    flow.says("purge.done", topic=topic)
    wait_for_number(flow.console.figure(flow.t("topics.messages")), lambda now: now == 0)


# Groups


def test_groups_are_paused_resumed_and_deleted_together(flow: Flow, data: Data) -> None:
    names = [f"{flow.group}-{number}" for number in (1, 2)]
    for name in names:
        data.take(name, flow.topic, most=1)
    flow.console.open(f"/groups?search={flow.group}-")
    for name in names:
        flow.console.page.get_by_role("checkbox", name=flow.t("groupBulk.choose", group=name)).click()
    for action, consume in (("pause", False), ("resume", True)):
        flow.button(f"groupBulk.{action}").click()
        flow.confirm(f"groupBulk.{action}Named", count=2, n=2)
        flow.says("groupBulk.doneAll", count=2, n=2)
        # What was said of the action before may still stand there.
        _wait_until_all(data, names, consume)
        for name in names:
            flow.console.page.get_by_role("checkbox", name=flow.t("groupBulk.choose", group=name)).click()
    flow.button("groupBulk.delete").click()
    flow.confirm("groupBulk.deleteNamed", typed="2", count=2, n=2)
    for name in names:
        expect(flow.console.row(name)).to_have_count(0)


def _wait_until_all(data: Data, groups: list[str], consume: bool) -> None:
    wait_until(lambda: all(data.consumes(group) == consume for group in groups))


def test_a_deletion_says_first_what_it_hits(flow: Flow, data: Data) -> None:
    group = f"{flow.group}-leaving"
    data.take(group, flow.topic, most=3, ack=False)
    flow.console.open(f"/groups/{group}")
    flow.choose("groups.delete")
    dialog = flow.console.page.get_by_role("dialog")
    expect(dialog).to_contain_text(flow.t("groupImpact.leases", count=3, n=3))
    expect(dialog).to_contain_text(flow.topic)
    flow.confirm("groups.deleteNamed", typed=group, group=group)
    expect(flow.console.page).to_have_url(re.compile("/groups$"))
    assert data.http.get(f"{LOCAL}/groups/{group}").status_code == 404


# The installation


def test_a_role_of_ones_own_lets_a_user_read_bodies(flow: Flow, data: Data) -> None:
    role, user = f"reads-{flow.topic}-x", f"auditor-{flow.topic}-x"
    flow.console.open("/access?tab=roles&role=viewer")
    flow.console.page.get_by_label(flow.t("roles.newName")).fill(role)
    flow.button("roles.copy", name="viewer").click()
    flow.says("roles.created", name=role)
    made = {"username": user, "password": "correct horse battery", "role": "viewer", "own_roles": [role]}
    data.http.post("/users", json=made).raise_for_status()
    flow.console.open(f"/access?tab=roles&role={role}")
    flow.console.reload()
    ask = flow.console.page.get_by_role("combobox", name=flow.t("access.user"))
    ask.fill(user)
    flow.console.page.get_by_role("option", name=user).click()
    flow.console.page.get_by_role("combobox", name=flow.t("roles.right")).click()
    flow.console.page.get_by_role("option", name=flow.t("rights.bodies"), exact=True).click()
    flow.console.page.get_by_role("textbox", name=flow.t("roles.name")).fill(flow.topic)
    answer = flow.console.main.get_by_role("status").filter(has_text=re.compile(f"^{flow.t('roles.no')}"))
    expect(answer).to_be_visible()
    words: dict[str, str] = {"pattern": "*", "kind": flow.t("roles.kinds.topic"), "right": flow.t("rights.bodies")}
    cell = flow.t("roles.cell", **words, effect=flow.t("roles.effects.none"))
    flow.console.page.get_by_role("button", name=cell, exact=True).click()
    flow.button("roles.save", count=1).click()
    flow.says("roles.saved", name=role)
    answer = flow.console.main.get_by_role("status").filter(has_text=re.compile(f"^{flow.t('roles.yes')}"))
    expect(answer).to_be_visible()


def test_a_session_of_another_window_is_ended(flow: Flow, browser: Browser, gantry: Gantry) -> None:
    with window(browser, signed_in(browser, gantry)) as context, tab(context, gantry) as other:
        other.open("/topics")
        flow.console.open("/access?tab=sessions")
        newest = flow.button("sessions.end", flow.console.main).first
        newest.click()
        flow.says("sessions.ended", name="admin")
        with other.watch.looking_away():
            other.page.reload()
            expect(other.page).to_have_url(re.compile("/login"))


def test_what_a_webhook_was_told_is_in_the_log_of_deliveries(flow: Flow) -> None:
    name = f"pager of {flow.topic}"
    with web_hook() as hook:
        flow.console.open("/alerts?tab=channels&new=channel")
        form = flow.console.page.get_by_role("complementary", name=flow.t("alerts.newChannel"))
        form.get_by_label(flow.t("alerts.name"), exact=True).fill(name)
        form.get_by_label("URL").fill(hook.url)
        flow.button("alerts.createChannel", form).click()
        flow.button("alerts.test", flow.console.row(name)).click()
        flow.says("alerts.testSent", name=name)
        flow.console.main.get_by_role("tab", name=flow.t("alerts.tabs.deliveries")).click()
        row = flow.console.main.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text(flow.t("alerts.deliveryStates.delivered"))
        expect(row).to_contain_text("202")
    assert len(hook.posted) == 1


def test_definitions_are_applied_from_a_file(flow: Flow, data: Data, tmp_path: Path) -> None:
    definitions = data.http.get("/definitions").json()
    [topics] = [each["topics"] for each in definitions["clusters"] if each["name"] == "local"]
    [one] = [each for each in topics if each["name"] == flow.topic]
    topics.append(one | {"name": f"{flow.topic}-from-file"})
    (tmp_path / "definitions.json").write_text(json.dumps(definitions), encoding="utf-8")
    flow.console.open("/settings?tab=definitions")
    flow.console.page.locator("input[type=file]").set_input_files(tmp_path / "definitions.json")
    flow.button("definitions.compare").click()
    flow.button("definitions.apply", count=1).click()
    flow.says("definitions.applied", done=1, lacking=0, refused=0)
    assert data.http.get(f"{LOCAL}/topics/{flow.topic}-from-file").is_success


def test_the_audit_is_narrowed_by_address_and_time_and_saved(flow: Flow, tmp_path: Path) -> None:
    flow.console.open(f"/audit?q=topics/{flow.topic}&address=127.0.0.1&from=2024-01-01T00:00:00Z")
    row = flow.console.main.get_by_role("row").filter(has_text=f"topics/{flow.topic}").last
    expect(row).to_be_visible()
    flow.button("auditSearch.export").click()
    with flow.console.page.expect_download() as waiting:
        flow.console.page.get_by_role("menuitem").first.click()
    waiting.value.save_as(tmp_path / "audit.csv")
    assert flow.topic in (tmp_path / "audit.csv").read_text(encoding="utf-8-sig")
    for narrow in ("address=203.0.113.9", "to=2024-01-01T00:00:00Z"):
        flow.console.open(f"/audit?q=topics/{flow.topic}&{narrow}")
        flow.console.settled()
        expect(flow.console.main.get_by_role("row").filter(has_text=f"topics/{flow.topic}")).to_have_count(0)


def test_the_console_is_used_below_a_path(browser: Browser, tmp_path: Path) -> None:
    place = Place.free(tmp_path / "data")
    below = f"http://127.0.0.1:{place.http_port}/tools/gantry"
    with (
        place.started(GANTRY_PUBLIC_URL=below) as running,
        window(browser) as context,
        tab(context, running) as console,
    ):
        console.page.goto(f"{below}/topics")
        expect(console.page).to_have_url(re.compile(f"^{below}/login"))
        console.watch.forgive("/tools/gantry/api/v1/me", 401)
        console.sign_in()
        expect(console.page).to_have_url(re.compile(f"^{below}/topics"))
        expect(console.connection).to_have_text("Live")
        console.sidebar.get_by_role("link", name="Groups", exact=True).click()
        console.reload()
        expect(console.page).to_have_url(f"{below}/groups")
