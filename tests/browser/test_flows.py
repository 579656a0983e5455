"""What an operator comes to do, from the first click to what is there afterwards, in English and in Chinese."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.data import LOCAL, Data
from tests.browser.flow import Flow, flow_in, press
from tests.browser.pages import Console
from tests.browser.shots import shoot
from tests.browser.words import LANGUAGES
from tests.support.gantry import Gantry
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

MESSAGES = 40
# So many that somebody can press a button while they are read.
HAY = 100_000


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest, data: Data) -> str:
    """A language, with a topic with messages, a group that is behind, and one that gave up two messages."""
    spoken = str(request.param)
    topic = f"flows-{spoken}"
    data.create_topic(topic)
    data.send(topic, *range(MESSAGES))
    data.take(f"{topic}-reader", topic, most=5)
    data.give_up(f"{topic}-failing", topic, "the amount is missing", most=2)
    return spoken


@pytest.fixture(scope="module")
def haystack(data: Data) -> str:
    """A topic that takes some seconds to scan, with two messages that are found at once."""
    data.create_topic("haystack")
    data.fill("haystack", HAY)
    data.send("haystack", 1, 2, body={"encoding": "json", "data": {"needle": 1}})
    return "haystack"


@pytest.fixture
def flow(console: Console, language: str) -> Flow:
    """The flow of a test."""
    return flow_in(console, language, f"flows-{language}")


def failing(flow: Flow) -> str:
    """Return the group that gave up messages."""
    return f"{flow.topic}-failing"


# Messages


def test_several_keys_are_looked_up_at_once_and_each_that_is_missing_is_named(flow: Flow) -> None:
    page, main, topic = flow.console.page, flow.console.main, flow.topic
    flow.console.open("/messages?mode=keys")
    page.get_by_role("textbox", name=flow.t("find.keysWords")).fill(f"{topic}-1 {topic}-2 nobody-sent-this")
    flow.button("messages.search").click()
    expect(main).to_contain_text(flow.t("find.keysFound", n=2, of=3))
    expect(main).to_contain_text("nobody-sent-this")
    of_topic = page.get_by_role("cell", name=topic, exact=True)
    expect(flow.console.row(f"{topic}-1").filter(has=of_topic)).to_be_visible()


def test_a_scan_by_content_is_saved_and_found_again(flow: Flow) -> None:
    page, name = flow.console.page, f"amount 107 of {flow.topic}"
    flow.console.open(f"/messages?mode=content&topic={flow.topic}")
    page.get_by_role("textbox", name=flow.t("find.conditions")).fill("$.amount = 107")
    flow.button("messages.search").click()
    expect(flow.console.main).to_contain_text(flow.t("find.matches", count=1, n=1))
    flow.button("searches.title").click()
    flow.menu_item("searches.save").click()
    form = flow.drawer("searches.saveTitle")
    form.get_by_label(flow.t("searches.name"), exact=True).fill(name)
    flow.button("searches.saveAction", form).click()
    flow.says("searches.saved", name=name)
    flow.console.open("/messages")
    flow.button("searches.title").click()
    page.get_by_role("menuitem", name=name, exact=True).click()
    expect(flow.console.row(f"{flow.topic}-7")).to_be_visible()


def test_a_scan_shows_how_far_it_is_and_keeps_what_it_found_when_it_is_stopped(flow: Flow, haystack: str) -> None:
    main = flow.console.main
    flow.console.open(f"/messages?mode=content&topic={haystack}")
    flow.console.page.get_by_role("textbox", name=flow.t("find.conditions")).fill("$.needle = 1")
    flow.button("messages.search").click()
    bar = main.get_by_role("status").filter(has_text=flow.t("find.matchesSoFar", count=2, n=2))
    expect(bar).to_contain_text(flow.t("find.phases.reading"))
    seen = _read(flow, bar)
    wait_until(lambda: _read(flow, bar) > seen)
    flow.button("find.stop", bar, n=2).click()
    expect(bar).to_contain_text(flow.t("find.phases.stopped"))
    expect(bar).to_contain_text(flow.t("find.reached", at=""))
    assert seen < _read(flow, bar) < HAY
    for number in (1, 2):
        expect(flow.console.row(f"{haystack}-{number}")).to_be_visible()


def _read(flow: Flow, bar: Locator) -> int:
    """Return how many messages a scan says it has read."""
    words = re.escape(flow.t("find.read", n="N", rate="R")).replace("N", r"([\d,]+)").replace("R", r"[\d,]+")
    said = re.search(words, bar.inner_text())
    return int(said[1].replace(",", "")) if said else 0


def test_a_message_is_edited_and_sent_again_from_its_permanent_address(flow: Flow) -> None:
    copy = f"{flow.topic}-again"
    flow.console.open(f"/messages?topic={flow.topic}&key={flow.topic}-3")
    flow.console.row(f"{flow.topic}-3").click()
    flow.drawer("messages.one").get_by_role("link", name=flow.t("compare.openPage")).click()
    expect(flow.console.page).to_have_url(re.compile(r"/messages/[0-9A-F]{32}\?"))
    flow.console.reload()
    flow.button("resend.open", flow.console.main).click()
    form = flow.drawer("resend.title")
    form.get_by_label(flow.t("resend.keys"), exact=True).fill(copy)
    flow.button("resend.action", form).click()
    flow.says("resend.done", topic=flow.topic)
    flow.console.open(f"/messages?topic={flow.topic}&key={copy}")
    expect(flow.console.row(copy)).to_be_visible()


# Groups


def test_offsets_are_moved_by_a_plan_and_moved_back(flow: Flow) -> None:
    flow.console.open(f"/groups/{flow.group}/offsets?topic={flow.topic}&mode=latest")
    flow.button("offsets.preview").click()
    expect(flow.console.main).to_contain_text(flow.t("offsets.willBeSkipped"))
    flow.console.page.get_by_role("button", name=re.compile(flow.t("offsets.apply", count="."))).click()
    flow.button("offsets.undo", flow.console.main).first.click()
    flow.console.page.get_by_role("dialog").get_by_role("button").last.click()
    flow.says("offsets.moved", group=flow.group)


def test_a_group_is_cloned_paused_and_resumed(flow: Flow, data: Data) -> None:
    clone = f"{flow.group}-clone"
    flow.console.open(f"/groups/{flow.group}")
    flow.choose("groupClone.open")
    form = flow.drawer("groupClone.title", source=flow.group)
    form.get_by_label(flow.t("groups.name"), exact=True).fill(clone)
    flow.button("groupClone.action", form, group=clone).click()
    expect(flow.console.title).to_have_text(clone)
    flow.choose("groups.pause")
    flow.confirm("groups.pauseNamed", group=clone)
    expect(flow.console.main).to_contain_text(flow.t("groupStates.paused"))
    assert not data.consumes(clone)
    flow.choose("groups.resume")
    flow.says("groups.resumedDone", group=clone)
    expect(flow.console.main).not_to_contain_text(flow.t("groupStates.paused"))
    assert data.consumes(clone)


def test_dead_letters_are_sent_again_by_cause(flow: Flow) -> None:
    group = failing(flow)
    flow.console.open("/dead-letters")
    cause = flow.t("deadLetters.pickCause", cause="the amount is missing", group=group)
    flow.console.page.get_by_role("checkbox", name=cause).click()
    # The group consumes by lease: the original topic is chosen, and says why.
    expect(flow.console.main).to_contain_text(flow.t("deadLetters.whyOrigin"))
    flow.item("deadLetters.destinations.failed_group").click()
    flow.button("deadLetters.redrive", count=2).click()
    outcomes = flow.console.main.get_by_role("row").filter(has_text=flow.t("deadLetters.outcomes.redriven"))
    expect(outcomes).to_have_count(2)


# Topics


def test_a_topic_is_created_with_a_message_type(flow: Flow, data: Data) -> None:
    topic = f"{flow.topic}-ordered"
    flow.console.open("/topics?new=topic")
    form = flow.drawer("topics.create")
    form.get_by_label(flow.t("topics.name"), exact=True).fill(topic)
    form.get_by_role("combobox", name=flow.t("topics.messageType")).click()
    flow.console.page.get_by_role("option", name=flow.t("topics.messageTypes.fifo"), exact=True).click()
    flow.button("topics.createNamed", form, topic=topic).click()
    expect(flow.console.title).to_have_text(topic)
    assert data.http.get(f"{LOCAL}/topics/{topic}").json()["message_type"] == "fifo"


def test_topics_are_deleted_together(flow: Flow, data: Data) -> None:
    names = [f"{flow.topic}-gone-{number}" for number in (1, 2)]
    for name in names:
        data.create_topic(name)
    flow.console.open(f"/topics?search={flow.topic}-gone")
    for name in names:
        flow.console.page.get_by_role("checkbox", name=flow.t("bulkTopics.choose", topic=name)).click()
    flow.button("bulkTopics.delete").click()
    flow.confirm("bulkTopics.deleteNamed", typed="2", count=2)
    flow.says("bulkTopics.deleted", count=2)
    expect(flow.console.row(names[0])).to_have_count(0)


def test_a_table_is_saved_as_csv_and_the_palette_leads_to_an_action(flow: Flow, tmp_path: Path) -> None:
    page = flow.console.page
    flow.console.open(f"/topics?search={flow.topic}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=re.compile("^CSV")).click()
    waiting.value.save_as(tmp_path / "topics.csv")
    assert flow.topic in (tmp_path / "topics.csv").read_text(encoding="utf-8-sig")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("textbox").fill(flow.t("palette.actions.topic").lower())
    page.keyboard.press("Enter")
    form = flow.drawer("topics.create")
    expect(form).to_be_visible()
    flow.button("actions.close", form).click()
    expect(form).to_have_count(0)


# What waits, and what passes


def test_a_scheduled_message_is_recalled(flow: Flow, data: Data) -> None:
    data.send(flow.topic, 900, delay_ms=3_600_000)
    flow.console.open(f"/scheduled?key={flow.topic}-900")
    flow.console.row(f"{flow.topic}-900").click()
    flow.button("scheduled.recallThis", flow.drawer("scheduled.message")).click()
    flow.confirm("scheduled.recallThis")
    flow.says("scheduled.didRecall")


def test_open_transactions_are_committed_rolled_back_and_checked_by_hand(flow: Flow, data: Data) -> None:
    data.prepare(flow.topic, 901, 902)
    rows = flow.console.main.get_by_label(flow.t("transactions.lists.open")).get_by_role("row")
    flow.console.open(f"/transactions?topic={flow.topic}")
    expect(rows).to_have_count(3)
    flow.console.row(f"{flow.topic}-901").click()
    drawer = flow.drawer("transactions.transaction")
    expect(flow.button("transactions.commit", drawer)).to_be_visible()
    shoot(flow.console.page, f"transactions-{flow.topic}")
    flow.button("transactions.checkAgain", drawer).click()
    flow.says("transactions.didCheckLater", group="payments")
    flow.button("transactions.commit", drawer).click()
    flow.console.page.get_by_role("dialog").get_by_label(flow.t("transactions.reason")).fill("paid by hand")
    flow.confirm("transactions.commit")
    flow.says("transactions.did.commit")
    expect(rows).to_have_count(2)
    flow.console.row(f"{flow.topic}-902").click()
    flow.button("transactions.rollback", drawer).click()
    flow.confirm("transactions.rollback")
    flow.says("transactions.did.rollback")
    flow.says("transactions.noneFits.open")
    audit = data.http.get("/audit", params={"resource": f"local/topics/{flow.topic}"}).json()["items"]
    assert {"transaction.commit", "transaction.rollback", "transaction.check"} <= {row["action"] for row in audit}
    assert any("paid by hand" in str(row["after"]) for row in audit)


def test_the_live_page_shows_what_passes_its_filter(flow: Flow, data: Data) -> None:
    flow.console.open(f"/live?topics={flow.topic}")
    flow.console.page.get_by_role("textbox", name=flow.t("tail.filter")).fill("tag:paid")
    flow.console.page.keyboard.press("Enter")
    expect(flow.console.main).to_contain_text(flow.t("tail.nothing"))
    data.send(flow.topic, *range(1_000, 1_009))
    rows = flow.console.main.get_by_label(flow.t("tail.table")).get_by_role("row")
    expect(rows).to_have_count(1 + 3)
    expect(rows.nth(1)).to_contain_text("paid")


def test_the_live_page_shows_what_sql_selects_and_says_where_it_is_wrong(flow: Flow, data: Data) -> None:
    flow.console.open(f"/live?topics={flow.topic}")
    field = flow.console.page.get_by_role("textbox", name=flow.t("tail.filter"))
    field.fill("sql:amount >")
    flow.console.page.keyboard.press("Enter")
    reason = flow.t("tail.sqlReasons.ends", need="a property, a value or a bracket")
    expect(flow.console.main.get_by_role("alert")).to_have_text(flow.t("tail.sqlFault", n="9", reason=reason))
    expect(field).to_have_attribute("aria-invalid", "true")
    flow.button("tail.removeCondition", condition="sql:amount >").click()
    field.fill("sql:amount > 100 AND region = 'south'")
    flow.console.page.keyboard.press("Enter")
    expect(flow.console.main).to_contain_text(flow.t("tail.nothing"))
    for number, amount in ((1_100, "50"), (1_101, "many"), (1_102, "250")):
        data.send(flow.topic, number, properties={"amount": amount, "region": "south"})
    data.send(flow.topic, 1_103)
    data.send(flow.topic, 1_104, properties={"amount": "300", "region": "north"})
    data.send(flow.topic, 1_105, properties={"amount": "300", "region": "south"})
    rows = flow.console.main.get_by_label(flow.t("tail.table")).get_by_role("row")
    expect(rows).to_have_count(1 + 2)
    for row, number in ((1, 1_105), (2, 1_102)):
        expect(rows.nth(row)).to_contain_text(f"{flow.topic}-{number}")


# The installation


def test_a_setting_of_a_broker_is_changed_and_put_back(flow: Flow) -> None:
    name = "defaultTopicQueueNums"
    flow.console.open(f"/broker?find={name}")
    flow.button("brokers.changeNamed", name=name).click()
    form = flow.drawer("brokers.changeTitle", name=name, broker="broker-a")
    form.get_by_label(flow.t("brokers.newValue")).fill("6")
    flow.button("brokers.preview", form).click()
    at_once = flow.t("brokers.effects.live")
    expect(form).to_contain_text(flow.t("brokers.planned", before=8, wanted=6, effect=at_once))
    changed = flow.t("brokers.changed", name=name, before=8, after=6, effect=at_once)
    press(flow.button("brokers.changeTo", form, name=name, value=6), flow.console.page.get_by_text(changed))
    flow.button("brokers.undo").click()
    flow.says("brokers.undone", name=name, value=8)


def test_a_cluster_is_tried_added_edited_and_removed(flow: Flow, data: Data, gantry: Gantry) -> None:
    name = f"twin-{flow.topic}"
    works = flow.t("clusters.readsOnly", n=5, total=5)
    flow.console.open("/clusters?new=cluster")
    form = flow.drawer("clusters.addTitle")
    form.get_by_label(flow.t("clusters.name"), exact=True).fill(name)
    form.get_by_label(flow.t("clusters.servers")).fill(gantry.name_server)
    flow.button("clusters.try", form).click()
    expect(form).to_contain_text(works)
    added = flow.console.page.get_by_text(flow.t("clusters.added", name=name))
    press(flow.button("clusters.add", form), added)
    flow.button("clusters.editNamed", name=name).click()
    form = flow.drawer("clusters.editNamed", name=name)
    expect(form.get_by_label(flow.t("clusters.name"), exact=True)).to_be_disabled()
    # What was tried is what is saved: another address must be tried first.
    by_name = gantry.name_server.replace("127.0.0.1", "localhost")
    form.get_by_label(flow.t("clusters.servers")).fill(by_name)
    flow.button("clusters.try", form).click()
    expect(form).to_contain_text(works)
    press(flow.button("clusters.save", form), flow.console.page.get_by_text(flow.t("clusters.saved", name=name)))
    assert data.http.get(f"/clusters/{name}").json()["name_servers"] == [by_name]
    flow.button("clusters.removeNamed", name=name).click()
    flow.confirm("clusters.removeNamed", typed=name, name=name)
    flow.says("clusters.removed", name=name)


def test_a_rule_fires_is_acknowledged_and_silenced(flow: Flow) -> None:
    name = f"{flow.topic} too far behind"
    flow.console.open("/alerts?new=rule")
    form = flow.drawer("alerts.newRule")
    form.get_by_label(flow.t("alerts.name"), exact=True).fill(name)
    form.get_by_label(flow.t("alerts.subject")).fill(failing(flow))
    form.get_by_role("textbox", name=flow.t("alerts.limit")).fill("1")
    form.get_by_label(flow.t("alerts.forSeconds")).fill("0")
    expect(form).to_contain_text(flow.t("alerts.wouldFire"))
    flow.button("alerts.saveRule", form).click()
    row = flow.console.main.get_by_role("row").filter(has_text=name)
    row.get_by_text(flow.t("alerts.states.firing")).click()
    alert = flow.drawer("alerts.one")
    alert.get_by_label(flow.t("alerts.note")).fill("on it")
    flow.button("alerts.acknowledge", alert).click()
    expect(alert).to_contain_text("on it")
    flow.button("alerts.silence", alert).click()
    silence = flow.drawer("alerts.newSilence")
    silence.get_by_label(flow.t("alerts.reason")).fill("maintenance")
    flow.button("alerts.silence", silence).click()
    expect(row).to_contain_text(flow.t("alerts.states.silenced"))


def test_the_audit_is_searched_and_exported(flow: Flow, tmp_path: Path) -> None:
    flow.console.open(f"/audit?q={flow.topic}")
    row = flow.console.main.get_by_role("row").filter(has_text=f"topics/{flow.topic}")
    expect(row.first).to_be_visible()
    flow.button("auditSearch.export").click()
    with flow.console.page.expect_download() as waiting:
        flow.console.page.get_by_role("menuitem").first.click()
    waiting.value.save_as(tmp_path / "audit")
    assert flow.topic in (tmp_path / "audit").read_text(encoding="utf-8-sig")


def test_an_operation_is_tried_on_the_page_of_the_api(flow: Flow) -> None:
    flow.console.open("/api-reference?operation=listClusters")
    flow.button("apiReference.send", method="GET").click()
    expect(flow.console.main).to_contain_text("embedded")
