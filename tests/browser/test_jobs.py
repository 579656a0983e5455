"""Replay, reconciliation and schedules, from the console's wizards to their results."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import broken_rules
from tests.browser.data import Data
from tests.browser.pages import Console, number_in, wait_for_number
from tests.browser.shots import shoot
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario, pytest.mark.spark]

MESSAGES = 3_000
PER_SECOND = 1_000
# Spark's start and a replay of some seconds, on a machine that does something else as well.
JOB_SECONDS = 120.0
_IS_IN_ONE_LINE = "each => each.scrollWidth <= each.clientWidth && each.getBoundingClientRect().height < 40"
SOURCE, TARGET = "payments", "payments-copy"


@pytest.fixture(scope="module")
def topics(data: Data) -> None:
    """A topic with messages, and an empty one."""
    data.create_topic(SOURCE)
    data.create_topic(TARGET)
    data.send(SOURCE, *range(MESSAGES))


@pytest.mark.usefixtures("topics")
def test_a_replay_is_started_by_the_wizard_and_followed_live_to_its_result(console: Console) -> None:
    fill_in_replay(console)
    console.page.get_by_role("button", name=f"Replay {MESSAGES:,} messages").click()
    expect(console.page).to_have_url(re.compile(r"/jobs/[\w-]+$"))
    job = console.page.url.removeprefix(f"{console.url}/jobs/")
    written = console.figure("Written")
    between = wait_for_number(written, lambda now: 0 < now < MESSAGES, within=JOB_SECONDS)
    wait_for_number(written, lambda now: between < now, within=JOB_SECONDS)
    _is_replayed(console)
    assert console.watch.heard(f"job:{job}") > 2
    console.reload()
    _is_replayed(console)
    shoot(console.page, "job")
    console.open("/jobs")
    expect(console.row("Succeeded").filter(has_text=f"{SOURCE} to {TARGET}")).to_be_visible()


@pytest.mark.usefixtures("topics")
def test_a_replay_is_put_on_a_schedule_that_shows_its_next_run(console: Console) -> None:
    fill_in_replay(console)
    console.page.get_by_role("button", name="Save as schedule").click()
    form = console.page.get_by_role("complementary", name="Create schedule")
    form.get_by_label("Name", exact=True).fill("nightly copy")
    form.get_by_label("Cron", exact=True).fill("30 2 * * *")
    expect(form.get_by_role("listitem")).to_have_count(5)
    form.get_by_role("button", name="Create nightly copy").click()
    schedule = console.row("nightly copy")
    for _ in ("at once", "after a reload"):
        expect(schedule).to_contain_text("30 2 * * *")
        expect(schedule).to_contain_text("02:30")
        expect(schedule).to_contain_text(re.compile(r"in \d+ (h|min|s)"))
        console.reload()
    shoot(console.page, "schedules")
    change_the_job(console)


def change_the_job(console: Console) -> None:
    """Give the job of the schedule a tag in its form, and find it there when the form is opened again."""
    for tag in ("", "paid"):
        console.row("nightly copy").get_by_role("button", name="More actions").click()
        console.page.get_by_role("menuitem", name="Edit", exact=True).click()
        form = console.page.get_by_role("complementary", name="Edit")
        form.get_by_role("button", name="Change the job").click()
        expect(form.get_by_label("Tag", exact=True).first).to_have_value(tag)
        form.get_by_label("Tag", exact=True).first.fill("paid")
        shoot(console.page, "schedule-job")
        form.get_by_role("button", name="Save nightly copy").click()
        expect(form).to_have_count(0)


@pytest.mark.usefixtures("topics")
def test_a_reconciliation_is_started_by_the_wizard_and_shows_what_differs(
    console: Console, data: Data, tmp_path: Path
) -> None:
    left, right = "invoices", "invoices-copy"
    data.create_topic(left)
    data.create_topic(right)
    data.send(left, *range(120))  # 100 to 119 are only here
    for number in (*range(100), *range(200, 203), 7):  # 200 to 202 are only there, 7 twice, and 42 is another
        data.send_as(right, left, number, **({"body": {"encoding": "text", "data": "altered"}} if number == 42 else {}))
    console.open("/jobs/new/reconcile")
    console.choose("Left", left)
    console.choose("Right", right)
    console.page.get_by_role("button", name="Next: Range").click()
    console.page.get_by_text("Its own", exact=True).click()
    shoot(console.page, "reconcile-range")
    console.page.get_by_text("Same as the left", exact=True).click()
    for step in ("Compare", "Start"):
        console.page.get_by_role("button", name=f"Next: {step}").click()
    console.page.get_by_role("button", name="Compare the two topics").click()
    expect(console.main).to_contain_text("Finished, 25 differences", timeout=JOB_SECONDS * 1000)
    tiles = {"Matched": 98, "Missing right": 20, "Missing left": 3, "Different": 1, "Duplicate right": 1}
    assert {name: number_in(console.figure(name)) for name in tiles} == tiles
    table = console.main.get_by_label("Differences", exact=True)
    expect(table.get_by_role("row").filter(has_text=f"{left}-119")).to_contain_text("Missing right")
    expect(table.get_by_role("row").filter(has_text=f"{left}-202")).to_contain_text("Missing left")
    table.get_by_role("row").filter(has_text=f"{left}-42").get_by_role("cell").first.click()
    expect(console.page.get_by_role("complementary", name=f"{left}-42")).to_contain_text("altered")
    assert broken_rules(console.page, within="aside[data-docked]") == []
    shoot(console.page, "reconcile-drawer")
    for text in (f"{left} against {right}", "Duplicate right", "Duplicate left"):
        assert console.main.get_by_text(text, exact=True).first.evaluate(_IS_IN_ONE_LINE), text
    console.page.keyboard.press("Escape")
    console.page.get_by_role("button", name="Replay the missing 20").click()
    form = console.page.get_by_role("complementary", name="Replay the missing")
    form.get_by_role("button", name="Dry run").click()
    expect(form).to_contain_text("the messages were counted", timeout=JOB_SECONDS * 1000)
    assert broken_rules(console.page, within="aside[data-docked]") == []
    console.page.keyboard.press("Escape")
    shoot(console.page, "reconcile")
    assert "missing_right" in _downloaded(console, tmp_path)
    console.reload()
    expect(console.main).to_contain_text("Finished, 25 differences")


@pytest.mark.usefixtures("topics")
def test_an_export_is_started_by_the_wizard_and_its_file_holds_what_was_asked_for(
    console: Console, data: Data, tmp_path: Path
) -> None:
    data.create_channel("on-call")
    console.open("/jobs/new/export")
    console.choose("Topic to read", SOURCE)
    console.page.get_by_text("Offsets", exact=True).click()
    console.page.get_by_label("Offset ranges").fill("0: 0 - 5\n1: 0 - 2")
    console.page.get_by_role("button", name="Next: File").click()
    console.page.get_by_role("button", name="Next: Start").click()
    console.choose("Notify", "on-call")
    console.page.keyboard.press("Escape")
    console.page.get_by_role("checkbox", name="Succeeded").check()
    shoot(console.page, "export-start")
    console.page.get_by_role("button", name="Dry run").click()
    expect(console.page.get_by_role("button", name="Export 7 messages")).to_be_enabled(timeout=JOB_SECONDS * 1000)
    # A dry run tells nobody
    assert data.told("on-call") == set()
    console.page.get_by_role("button", name="Export 7 messages").click()
    expect(console.page).to_have_url(re.compile(r"/jobs/[\w-]+$"))
    expect(console.main).to_contain_text("Succeeded", timeout=JOB_SECONDS * 1000)
    expect(console.main).to_contain_text("on-call (Failed, Partial, Succeeded)")
    wait_until(lambda: "notice" in data.told("on-call"), within=JOB_SECONDS)
    rows = list(csv.DictReader(_downloaded(console, tmp_path).splitlines()))
    assert [(row["queue_id"], row["queue_offset"]) for row in rows] == [
        *(("0", str(offset)) for offset in range(5)), ("1", "0"), ("1", "1")
    ]  # fmt: skip
    assert all(SOURCE in row["keys"] for row in rows)


def test_a_topic_is_compared_with_a_file_by_the_wizard(console: Console, data: Data, job_files: Path) -> None:
    data.create_topic("billed")
    data.send("billed", *range(4))
    (job_files / "billed.csv").write_text("id\nbilled-0\nbilled-1\nbilled-9\n")
    console.open("/jobs/new/reconcile")
    console.choose("Left", "billed")
    console.page.get_by_role("combobox", name="Kind of the right side").click()
    console.page.get_by_role("option", name="CSV files").click()
    console.page.get_by_label("File of the right side").fill("billed.csv")
    for step in ("Range", "Compare"):
        console.page.get_by_role("button", name=f"Next: {step}").click()
    console.page.get_by_label("Key on the left").fill("key")
    console.page.get_by_label("Key on the right").fill("id")
    console.page.get_by_role("button", name="Next: Start").click()
    console.page.get_by_role("button", name="Compare the two sides").click()
    expect(console.main).to_contain_text("Finished, 3 differences", timeout=JOB_SECONDS * 1000)
    tiles = {"Matched": 2, "Missing right": 2, "Missing left": 1}
    assert {name: number_in(console.figure(name)) for name in tiles} == tiles


def fill_in_replay(console: Console) -> None:
    """Go through the wizard of a replay up to its last step."""
    console.open("/jobs/new/replay")
    console.choose("Topic to read", SOURCE)
    console.page.get_by_role("button", name="Next: Target").click()
    console.choose("Topic to write", TARGET)
    console.page.get_by_role("button", name="Next: Limits").click()
    console.page.get_by_label("Messages a second").fill(str(PER_SECOND))
    console.page.get_by_role("button", name="Next: Start").click()
    expect(console.main).to_contain_text("messages will be written")


def _is_replayed(console: Console) -> None:
    expect(console.main).to_contain_text("Succeeded", timeout=JOB_SECONDS * 1000)
    expect(console.figure("Written")).to_have_text(f"{MESSAGES:,}")
    queues = console.main.get_by_label("Checkpoints", exact=True).get_by_role("row")
    wait_until(lambda: queues.count() > 1)
    expect(queues.nth(1)).to_contain_text("100.0 %")


def _downloaded(console: Console, folder: Path) -> str:
    """Download the first CSV file of the job and return its text; raises AssertionError when it holds no row."""
    file = console.main.get_by_label("Files", exact=True).get_by_role("row").filter(has_text=".csv").first
    with console.page.expect_download() as waiting:
        file.get_by_role("link", name="Download").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    text = path.read_text(encoding="utf-8-sig")
    assert len(list(csv.reader(text.splitlines()))) > 1, text
    return text
