"""What an operator comes to do, from the first click to what is there afterwards."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Locator, expect

from tests.browser.data import Data
from tests.browser.pages import Console
from tests.support.gantry import Gantry
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

TOPIC, GROUP, FAILING = "flows", "flows-reader", "flows-failing"
MESSAGES = 40


@pytest.fixture(scope="module")
def flows(data: Data) -> str:
    """A topic with messages, a group that is behind, and one that gave up two messages."""
    data.create_topic(TOPIC)
    data.send(TOPIC, *range(MESSAGES))
    data.take(GROUP, TOPIC, most=5)
    data.give_up(FAILING, TOPIC, "the amount is missing", most=2)
    return TOPIC


def button(place: Console | Locator, name: str | re.Pattern[str]) -> Locator:
    """Return the button of that name on a page or in a part of it."""
    return (place.page if isinstance(place, Console) else place).get_by_role("button", name=name, exact=True)


def drawer(console: Console, name: str) -> Locator:
    """Return the drawer of that name."""
    return console.page.get_by_role("complementary", name=name)


def press(what: Locator, outcome: Locator) -> None:
    """Press until `outcome` shows: a form takes no press in the first moment after another one."""

    def is_there() -> bool:
        if outcome.count() == 0 and what.count() > 0:
            with suppress(Error):  # it went away with its form, or waits for an answer
                what.click(timeout=1_000)
        return outcome.count() > 0

    wait_until(is_there, within=60)


# Messages


def test_several_keys_are_looked_up_at_once_and_each_that_is_missing_is_named(console: Console, flows: str) -> None:
    console.open("/messages?mode=keys")
    console.page.get_by_role("textbox", name="Keys or IDs").fill(f"{flows}-1 {flows}-2 nobody-sent-this")
    button(console, "Search").click()
    expect(console.main).to_contain_text("2 of 3 keys found")
    expect(console.main).to_contain_text("nobody-sent-this")
    expect(
        console.row(f"{flows}-1").filter(has=console.page.get_by_role("cell", name=flows, exact=True))
    ).to_be_visible()


def test_a_scan_by_content_is_saved_and_found_again(console: Console, flows: str) -> None:
    console.open(f"/messages?mode=content&topic={flows}")
    console.page.get_by_role("textbox", name="Conditions").fill("$.amount = 107")
    button(console, "Search").click()
    expect(console.main).to_contain_text("1 match")
    button(console, "Saved searches").click()
    console.page.get_by_role("menuitem", name="Save this search…").click()
    form = drawer(console, "Save the search")
    form.get_by_label("Name", exact=True).fill("amount 107")
    button(form, "Save search").click()
    expect(console.page.get_by_text("“amount 107” was saved")).to_be_visible()
    console.open("/messages")
    button(console, "Saved searches").click()
    console.page.get_by_role("menuitem", name="amount 107", exact=True).click()
    expect(console.row(f"{flows}-7")).to_be_visible()


def test_a_message_is_edited_and_sent_again_from_its_permanent_address(console: Console, flows: str) -> None:
    console.open(f"/messages?topic={flows}&key={flows}-3")
    console.row(f"{flows}-3").click()
    message = drawer(console, "Message")
    message.get_by_role("link", name="Open the page of the message").click()
    expect(console.page).to_have_url(re.compile(r"/messages/[0-9A-F]{32}\?"))
    console.reload()
    button(console.main, "Edit and send again").click()
    form = drawer(console, "Send the message again")
    form.get_by_label("Keys", exact=True).fill("sent-again")
    button(form, "Send a copy").click()
    expect(console.page.get_by_text(f"A copy was stored in {flows}")).to_be_visible()
    console.open(f"/messages?topic={flows}&key=sent-again")
    expect(console.row("sent-again")).to_be_visible()


# Groups


def test_offsets_are_moved_by_a_plan_and_moved_back(console: Console, flows: str) -> None:
    console.open(f"/groups/{GROUP}/offsets?topic={flows}&mode=latest")
    button(console, "Preview").click()
    expect(console.main).to_contain_text("Will be skipped for good")
    button(console, re.compile("Apply to . queues?")).click()
    button(console.main, "Undo").first.click()
    expect(console.page.get_by_text(f"Group {GROUP} was moved").first).to_be_visible()


def test_a_group_is_cloned_and_paused(console: Console, flows: str) -> None:
    console.open(f"/groups/{GROUP}")
    button(console.main, "More actions").click()
    console.page.get_by_role("menuitem", name="Clone group").click()
    form = drawer(console, f"Clone group {GROUP}")
    form.get_by_label("Group", exact=True).fill("flows-clone")
    button(form, "Clone to flows-clone").click()
    expect(console.title).to_have_text("flows-clone")
    button(console.main, "More actions").click()
    console.page.get_by_role("menuitem", name="Pause group").click()
    button(console.page.get_by_role("dialog"), "Pause flows-clone").click()
    expect(console.main).to_contain_text("Paused")


def test_dead_letters_are_sent_again_by_cause(console: Console, flows: str) -> None:
    console.open("/dead-letters")
    console.page.get_by_role("checkbox", name=f"Pick the amount is missing of {FAILING}").click()
    # The group consumes by lease: the original topic is chosen, and says why.
    expect(console.main).to_contain_text("No native client of the group is connected")
    console.page.get_by_text("Failed group only").click()
    button(console, "Redrive 2 messages").click()
    outcomes = console.main.get_by_role("row").filter(has_text="Redriven")
    expect(outcomes).to_have_count(2)


# Topics


def test_topics_are_deleted_together(console: Console, data: Data) -> None:
    data.create_topic("passing-1")
    data.create_topic("passing-2")
    console.open("/topics?search=passing")
    for name in ("passing-1", "passing-2"):
        console.page.get_by_role("checkbox", name=f"Choose {name}").click()
    button(console, "Delete").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("2")
    button(dialog, "Delete 2 topics").click()
    expect(console.page.get_by_text("2 topics were deleted").first).to_be_visible()
    expect(console.row("passing-1")).to_have_count(0)


def test_a_table_is_saved_as_csv_and_the_palette_leads_to_an_action(
    console: Console, flows: str, tmp_path: Path
) -> None:
    console.open(f"/topics?search={flows}")
    with console.page.expect_download() as waiting:
        button(console, re.compile("^CSV")).click()
    waiting.value.save_as(tmp_path / "topics.csv")
    assert flows in (tmp_path / "topics.csv").read_text(encoding="utf-8-sig")
    console.page.keyboard.press("Control+k")
    console.page.get_by_role("dialog").get_by_role("textbox").fill("create a topic")
    console.page.keyboard.press("Enter")
    expect(drawer(console, "Create topic")).to_be_visible()
    button(drawer(console, "Create topic"), "Close").click()
    expect(drawer(console, "Create topic")).to_have_count(0)


# What waits, and what passes


def test_a_scheduled_message_is_recalled(console: Console, data: Data, flows: str) -> None:
    data.send(flows, 900, delay_ms=3_600_000)
    console.open(f"/scheduled?key={flows}-900")
    console.row(f"{flows}-900").click()
    button(drawer(console, "Scheduled message"), "Recall message").click()
    button(console.page.get_by_role("dialog"), "Recall message").click()
    expect(console.page.get_by_text("The message is recalled")).to_be_visible()


def test_the_live_page_shows_what_passes_its_filter(console: Console, data: Data, flows: str) -> None:
    console.open(f"/live?topics={flows}")
    console.page.get_by_role("textbox", name="Filter").fill("tag:paid")
    console.page.keyboard.press("Enter")
    expect(console.main).to_contain_text("No message yet")
    data.send(flows, *range(1_000, 1_009))
    rows = console.main.get_by_label("Messages as they are stored").get_by_role("row")
    expect(rows).to_have_count(1 + 3)
    expect(rows.nth(1)).to_contain_text("paid")


# The installation


def test_a_setting_of_a_broker_is_changed_and_put_back(console: Console, data: Data) -> None:
    console.open("/broker?find=defaultTopicQueueNums")
    button(console, "Change defaultTopicQueueNums").click()
    form = drawer(console, "Change defaultTopicQueueNums of broker-a")
    form.get_by_label("New value").fill("6")
    button(form, "Check the change").click()
    expect(form).to_contain_text("Nothing has been changed yet.")
    press(button(form, "Change defaultTopicQueueNums to 6"), console.page.get_by_text(re.compile("is now 6")))
    button(console, "Undo").click()
    expect(console.page.get_by_text("defaultTopicQueueNums is 8 again")).to_be_visible()


def test_a_cluster_is_tried_added_and_removed(console: Console, gantry: Gantry) -> None:
    console.open("/clusters?new=cluster")
    form = drawer(console, "Add a cluster")
    form.get_by_label("Name", exact=True).fill("twin")
    form.get_by_label("Name servers").fill(gantry.name_server)
    button(form, "Try the connection").click()
    expect(form).to_contain_text("5 of 5 passed")
    press(button(form, "Add cluster"), console.page.get_by_text("Cluster twin was added"))
    button(console, "Remove twin").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("twin")
    button(dialog, "Remove twin").click()
    expect(console.page.get_by_text("Cluster twin was removed")).to_be_visible()


def test_a_rule_fires_is_acknowledged_and_silenced(console: Console, data: Data, flows: str) -> None:
    console.open("/alerts?new=rule")
    form = drawer(console, "New rule")
    form.get_by_label("Name", exact=True).fill("too far behind")
    form.get_by_label("Subject").fill(FAILING)
    form.get_by_role("textbox", name="Limit").fill("1")
    form.get_by_label("For (seconds)").fill("0")
    expect(form).to_contain_text("Would have fired")
    button(form, "Save rule").click()
    console.main.get_by_role("row").filter(has_text="too far behind").get_by_text("Firing").click()
    alert = drawer(console, "Alert")
    alert.get_by_label("Note").fill("on it")
    button(alert, "Acknowledge").click()
    expect(alert).to_contain_text("on it")
    button(alert, "Silence").click()
    silence = drawer(console, "New silence")
    silence.get_by_label("Reason").fill("maintenance")
    button(silence, "Silence").click()
    expect(console.main.get_by_role("row").filter(has_text="too far behind")).to_contain_text("Silenced")


def test_the_audit_is_searched_and_exported(console: Console, data: Data, tmp_path: Path) -> None:
    data.create_topic("audited")
    console.open("/audit?q=audited")
    expect(console.main.get_by_role("row").filter(has_text="topics/audited")).to_be_visible()
    button(console, "Export").click()
    with console.page.expect_download() as waiting:
        console.page.get_by_role("menuitem").first.click()
    waiting.value.save_as(tmp_path / "audit")
    assert "audited" in (tmp_path / "audit").read_text(encoding="utf-8-sig")


def test_an_operation_is_tried_on_the_page_of_the_api(console: Console) -> None:
    console.open("/api-reference?operation=listClusters")
    button(console, "Send GET").click()
    expect(console.main).to_contain_text("embedded")
