"""The console in a real browser: from an empty installation to finding one message."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.data import Data, flowing
from tests.browser.pages import Console, number_in, wait_for_number
from tests.browser.shots import PHONE, shoot
from tests.support.gantry import Gantry

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

OVERVIEW = "/api/v1/clusters/local/overview"
MESSAGES = 600
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# What a page shows when a word has no translation: the path of the word.
BARE_KEY = re.compile(
    r"\b(?:nav|topics|groups|lag|messages|verdict|jobs|schedules|overview|broker|access|audit)\.[a-z]\w+\b"
)


@pytest.fixture(scope="module")
def orders(data: Data) -> str:
    """A topic with messages, and two groups that are behind in it."""
    data.create_topic("orders")
    data.send("orders", *range(MESSAGES))
    data.take("billing", "orders")
    data.take("shipping", "orders", most=3, ack=False)
    return "orders"


# An empty installation


def test_a_new_installation_shows_the_first_steps_and_notices_each_that_is_taken(console: Console, data: Data) -> None:
    console.open("/")
    expect(console.title).to_have_text("The broker is up and empty")
    for name, what in (("Create a topic", "/topics"), ("Send a message", "/messages"), ("Receive it", ":receive")):
        command = console.main.get_by_label(name, exact=True)
        expect(command).to_contain_text("curl -X POST")
        expect(command).to_contain_text(f"{console.url}/api/v1/clusters/local")
        expect(command).to_contain_text(what)
    shoot(console.page, "first-run")
    console.page.get_by_role("button", name="Send it for me").click()
    expect(console.main).to_contain_text("Waiting for the first group")
    assert data.take("demo", "hello") == 1
    expect(console.title).to_have_text("Overview")


# Who is there


def test_a_wrong_password_is_refused_in_words_and_the_right_one_leads_to_the_overview(stranger: Console) -> None:
    stranger.page.goto(f"{stranger.url}/")
    expect(stranger.page).to_have_url(re.compile("/login"))
    stranger.watch.forgive("/api/v1/me", 401)  # how a page learns that nobody is signed in
    shoot(stranger.page, "login")
    stranger.sign_in("not the password")
    expect(stranger.page.get_by_role("alert")).to_have_text("User name and password do not match.")
    stranger.watch.forgive("/api/v1/login", 401)
    stranger.sign_in()
    expect(stranger.page).to_have_url(f"{stranger.url}/")
    expect(stranger.connection).to_have_text("Live")


def test_signing_out_leads_to_the_sign_in_page_and_nothing_opens_any_more(stranger: Console) -> None:
    stranger.page.goto(f"{stranger.url}/login")
    stranger.sign_in()
    stranger.page.get_by_role("button", name="Menu of admin").click()
    stranger.page.get_by_role("menuitem", name="Sign out").click()
    expect(stranger.page).to_have_url(re.compile("/login"))
    stranger.page.goto(f"{stranger.url}/topics")
    expect(stranger.page).to_have_url(re.compile("/login"))
    stranger.watch.forgive("/api/v1/me", 401)


# Numbers that move by themselves


def test_the_overview_moves_by_itself_and_asks_only_once(console: Console, gantry: Gantry, orders: str) -> None:
    console.open("/")
    rate, lag = console.figure("Messages in"), console.figure("Total lag")
    wait_for_number(lag, lambda lag: lag >= MESSAGES - 32)
    with flowing(gantry, orders):
        first = wait_for_number(rate, lambda now: now > 0)
        second = wait_for_number(rate, lambda now: now not in (0, first))
        wait_for_number(rate, lambda now: now not in (0, first, second))
        wait_for_number(lag, lambda lag: lag > 2 * MESSAGES)
        shoot(console.page, "overview")
    wait_for_number(rate, lambda now: now == 0, within=90)  # a rate is the average of half a minute
    assert console.watch.asked(OVERVIEW) == 1
    assert console.watch.heard("overview:local") > 3


def test_the_wallboard_has_the_screen_moves_by_itself_and_is_left_by_a_key(
    console: Console, data: Data, orders: str
) -> None:
    console.open("/live")
    console.main.get_by_role("link", name="Wallboard").click()
    lag = console.main.locator("dt", has_text=re.compile("^Total lag$")).locator("xpath=following-sibling::dd[1]")
    before = wait_for_number(lag, lambda now: now > 0)
    expect(console.main).to_contain_text("billing")
    expect(console.page.get_by_role("navigation")).to_have_count(0)
    shoot(console.page, "wallboard")
    data.send(orders, *range(3_000, 3_100))
    wait_for_number(lag, lambda now: now > before)
    console.page.keyboard.press("Escape")
    expect(console.title).to_have_text("Live")


def test_the_lag_of_a_group_moves_by_itself(console: Console, data: Data, orders: str) -> None:
    console.open("/groups")
    shoot(console.page, "groups")
    console.main.get_by_role("link", name="billing", exact=True).click()
    expect(console.title).to_have_text("billing")
    lag = console.figure("Lag")
    before = wait_for_number(lag, lambda now: now > 0)
    asked = console.watch.asked("/api/v1/clusters/local/groups/billing")
    data.send(orders, *range(2_000, 2_100))
    wait_for_number(lag, lambda now: now == before + 100)
    taken = sum(data.take("billing", orders) for _ in range(4))
    wait_for_number(lag, lambda now: now == before + 100 - taken)
    queues = console.main.get_by_label("Queues", exact=True).get_by_role("row")
    expect(queues).to_have_count(1 + 4)
    assert console.watch.asked("/api/v1/clusters/local/groups/billing") == asked
    shoot(console.page, "group")
    shoot(console.page, "group-phone", size=PHONE)


# Topics


def test_the_list_of_topics_leads_to_one_topic_with_its_queues(console: Console, orders: str) -> None:
    console.open("/topics")
    expect(console.row(orders)).to_contain_text("4 / 4")
    shoot(console.page, "topics")
    console.main.get_by_role("link", name=orders, exact=True).click()
    expect(console.title).to_have_text(orders)
    held = wait_for_number(console.figure("Messages"), lambda now: now >= MESSAGES)
    console.main.get_by_role("tab", name="Queues").click()
    rows = console.main.get_by_label("Queues", exact=True).get_by_role("row")
    expect(rows).to_have_count(1 + 4)
    # A batch goes to one queue, so a queue may be empty; none is unknown.
    counts = [number_in(rows.nth(index).get_by_role("cell").nth(4)) for index in range(1, 5)]
    known = [count for count in counts if count is not None]
    assert (len(known), sum(known)) == (4, held)
    shoot(console.page, "topic")


def test_a_topic_is_created_in_the_console_and_a_message_sent_from_its_form(console: Console) -> None:
    console.open("/topics")
    console.page.get_by_role("button", name="Create topic").click()
    form = console.page.get_by_role("complementary", name="Create topic")
    form.get_by_label("Topic", exact=True).fill("returns")
    form.get_by_label("Read queues").fill("2")
    form.get_by_label("Write queues").fill("2")
    form.get_by_role("button", name="Create returns").click()
    expect(console.title).to_have_text("returns")
    expect(console.figure("Queues r/w").or_(console.figure("Queues"))).to_have_text("2 / 2")
    console.page.get_by_role("button", name="Produce").click()
    console.page.get_by_label("Keys", exact=True).fill("returns-1")
    console.page.get_by_label("Tag", exact=True).fill("broken")
    console.page.get_by_label("Properties", exact=True).fill("region=north")
    console.page.get_by_label("Body", exact=True).fill('{"id": "returns-1", "pieces": 2}')
    console.page.get_by_role("button", name="Send to returns").click()
    expect(console.main).to_contain_text("Stored")
    console.main.get_by_role("tab", name="Messages").click()
    expect(console.row("returns-1")).to_contain_text("broken")


# Messages


def test_a_message_is_found_by_key_shown_whole_and_found_again_by_the_address(console: Console, orders: str) -> None:
    key = f"{orders}-417"
    console.open("/messages")
    console.page.get_by_label("Key of the message").fill(key)
    console.choose("Topic", orders)
    console.page.get_by_role("button", name="Search", exact=True).click()
    verdict = console.main.get_by_role("status")
    expect(verdict).to_contain_text("1 match")
    expect(verdict).to_contain_text("complete")
    expect(verdict).to_contain_text("1 index file read")
    console.row(key).click()
    _is_shown_whole(console, key)
    shoot(console.page, "messages")
    console.reload()
    expect(verdict).to_contain_text("1 match")
    _is_shown_whole(console, key)


def _is_shown_whole(console: Console, key: str) -> None:
    message = console.page.get_by_role("complementary", name="Message")
    tree = message.get_by_role("tree")
    expect(tree).to_contain_text(f'"{key}"the key')
    expect(tree).to_contain_text('"customer 29"')
    expect(message.get_by_role("row").filter(has_text="region")).to_contain_text("south")
    expect(message.get_by_role("link", name="billing")).to_be_visible()


def test_a_key_that_is_not_there_is_answered_with_how_much_was_read(console: Console, orders: str) -> None:
    console.open(f"/messages?topic={orders}&key=nobody-sent-this")
    verdict = console.main.get_by_role("status")
    expect(verdict).to_contain_text("No match")
    expect(verdict).to_contain_text("complete")
    expect(verdict).to_contain_text("the one index file in the range was read")


# Looks


def test_the_language_and_the_theme_stay_after_a_reload(console: Console, orders: str) -> None:
    console.open("/")
    console.page.get_by_role("button", name="Light or dark").click()
    console.page.get_by_role("button", name="Language").click()
    console.page.get_by_role("menuitem", name="中文").click()
    for _ in ("at once", "after a reload"):
        expect(console.title).to_have_text("总览")
        expect(console.page.locator("html")).to_have_attribute("lang", "zh-CN")
        expect(console.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
        console.reload()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_overview_has_its_words_before_those_of_other_pages_come(
    console: Console, orders: str, language: str
) -> None:
    console.page.add_init_script(f"localStorage.setItem('gantry.language', '\"{language}\"')")
    held: list[Route] = []
    console.page.route("**/assets/rest-*.js", lambda route: held.append(route))
    with console.page.expect_request("**/assets/rest-*.js"):
        console.open("/")
    # The events alone wait for the other words.
    expect(console.main.locator("[aria-busy=true]")).to_have_count(1)
    words = console.page.locator("body").inner_text()
    assert not BARE_KEY.search(words), words
    for route in held:
        route.continue_()
    console.settled()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_of_the_side_bar_opens_without_an_error(console: Console, orders: str, language: str) -> None:
    console.page.add_init_script(f"localStorage.setItem('gantry.language', '\"{language}\"')")
    console.open("/")
    console.settled()
    links = console.sidebar.get_by_role("link")
    assert links.count() == 17
    for link in links.all():
        link.click()
        name = link.get_attribute("title") or ""
        expect(console.title).to_have_text(name)
        console.settled()
        words = console.main.inner_text().replace("中文", "")  # a language is called by its own name in each
        assert not BARE_KEY.search(words), words
        assert bool(CHINESE.search(words)) == (language == "zh"), words
        if language == "zh" and link.get_attribute("href") == "/":
            shoot(console.page, "overview-zh")


# A phone


@pytest.mark.parametrize("path", ["/", "/groups", "/groups/billing", "/topics", "/topics/orders?tab=produce"])
def test_a_phone_shows_lag_first_and_nothing_is_cut(console: Console, orders: str, path: str) -> None:
    console.page.set_viewport_size(PHONE)
    console.open(path)
    expect(console.main.locator("[aria-busy=true]")).to_have_count(0)
    cut = console.page.evaluate(
        """() => [...document.querySelectorAll("#content h1, #content dt, #content label, #content pre, #content li a")]
            .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
            .map((element) => element.outerHTML.slice(0, 120))"""
    )
    assert cut == []
    assert console.page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth") == 0
    if path == "/":
        labels = console.main.get_by_text(re.compile("^(Total lag|Messages in)$"))
        expect(labels.first).to_have_text("Total lag")


@pytest.mark.parametrize("path", ["/access", "/broker", "/audit"])
def test_a_phone_reaches_every_button_and_column_of_a_table(console: Console, path: str) -> None:
    console.page.set_viewport_size(PHONE)
    console.open(path)
    expect(console.main.get_by_role("table").last).to_be_visible()
    console.settled()
    beyond = console.page.evaluate(
        """() => [...document.querySelectorAll("#content :is(th, td, td button)")]
            .filter((element) => element.getBoundingClientRect().right > innerWidth)
            .map((element) => element.outerHTML.slice(0, 120))"""
    )
    assert beyond == []


# When the gateway dies


def test_the_connection_badge_tells_that_the_gateway_is_gone_and_that_it_is_back(
    console: Console, gantry: Gantry, orders: str
) -> None:
    console.open("/")
    expect(console.connection).to_have_text("Live")
    with console.watch.looking_away():
        kill_gateway(gantry)
        expect(console.connection).to_have_text(re.compile("Polling|Offline"))
        expect(console.connection).to_have_text("Live", timeout=90_000)
        with flowing(gantry, orders):
            wait_for_number(console.figure("Messages in"), lambda now: now > 0)
    assert "gateway was killed by signal 9" in gantry.output


def kill_gateway(gantry: Gantry) -> None:
    """Kill the gateway with its workers, as the system does when memory ends: each child has a session of its own."""
    (pid,) = [child for child in children(gantry.process.pid) if b"gateway.serve" in (child / "cmdline").read_bytes()]
    os.killpg(int(pid.name), signal.SIGKILL)


def children(parent: int) -> list[Path]:
    """Return the folders below /proc of the child processes of `parent`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if f"PPid:\t{parent}\n" in (folder / "status").read_text(encoding="ascii", errors="replace"):
                found.append(folder)
    return found
