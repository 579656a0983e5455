"""Every page and everything that opens over one, as axe-core sees it: in both themes, at a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.accessible import broken_rules
from tests.browser.data import LOCAL, Data, order
from tests.browser.guarded import GUARDED
from tests.browser.pages import Console
from tests.browser.shots import DESK, PHONE
from tests.browser.walk import pages
from tests.support.cluster import RunningBroker
from tests.support.gantry import ROOT
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

TOPIC, COPY, GROUP = "access-shop", "access-copy", "access-reader"
SOURCE: Final = ROOT / "frontend/src"
SIDE_BAR: Final = "aside:has(> nav)"
POPUPS: Final = "[role=dialog], [role=menu], [role=tooltip], [role=listbox], aside[data-docked]"

Role = Literal["button", "checkbox", "link", "menuitem", "row"]


@dataclass(frozen=True)
class Opened:
    """A page, and what is pressed there until something opens."""

    path: str
    presses: tuple[tuple[Role, str], ...] = ()


def at(path: str, *presses: tuple[Role, str]) -> Opened:
    """Return how a part is opened: the address, then what is pressed."""
    return Opened(path, presses)


MORE: Final[tuple[Role, str]] = ("button", "More actions")
ACCOUNT: Final = "access-clerk"
ACCOUNTS: Final = f"/broker?cluster={GUARDED}&tab=accounts"
TOPIC_PAGE, GROUP_PAGE = f"/topics/{TOPIC}", f"/groups/{GROUP}"
CHOSEN_TOPIC: Final = (f"/topics?search={TOPIC}", ("checkbox", f"Choose {TOPIC}"))
CHOSEN_GROUP: Final = (f"/groups?search={GROUP}", ("checkbox", f"Choose {GROUP}"))
MESSAGE: Final = f"/messages?topic={TOPIC}&key={TOPIC}-1"
ROW: Final = (MESSAGE, ("row", f"{TOPIC}-1"))

# How each drawer and each dialog of the code is opened.
OPENED: Final = {
    # First, while the job runs.
    "features/jobs/components/job-actions": at("/jobs/{job}", ("button", "Cancel job")),
    "features/jobs/components/workers-drawer": at("/jobs?workers=all"),
    "app/shell/keys-modal": at("/", ("button", "Keyboard")),
    "features/accounts/components/create-token": at("/access?new=token"),
    "features/accounts/components/create-user": at("/access?tab=users&new=user"),
    "features/accounts/components/reset-password": at("/access?tab=users", ("button", "Reset password")),
    "features/accounts/components/role-editor": at("/access?tab=roles&role=access-clerk", ("button", "Delete")),
    "features/accounts/components/tokens-table": at("/access", ("button", "Revoke")),
    "features/accounts/components/users-table": at("/access?tab=users", ("button", "Delete")),
    "features/alerts/components/alert-drawer": at("/alerts?alert={alert}"),
    "features/alerts/components/channel-form": at("/alerts?new=channel"),
    "features/alerts/components/channels-panel": at("/alerts?tab=channels", ("button", "Delete")),
    "features/alerts/components/rule-form": at("/alerts?edit={rule}"),
    "features/alerts/components/rules-panel": at("/alerts?tab=rules", MORE, ("menuitem", "Delete rule")),
    "features/alerts/components/silence-form": at("/alerts?new=silence"),
    "features/audit/components/audit-drawer": at("/audit", ("row", "create topic")),
    "features/brokers/components/change-setting": at("/broker", ("button", "Change brokerPermission")),
    "features/clusters/components/cluster-form": at("/clusters?new=1"),
    "features/clusters/components/delete-cluster": at("/clusters?edit=access-gone", ("button", "Remove access-gone")),
    "features/groups/components/bulk-change": at(*CHOSEN_GROUP, ("button", "Delete")),
    "features/groups/components/clone-group": at(GROUP_PAGE, MORE, ("menuitem", "Clone group")),
    "features/offsets/components/undo-change": at("/groups/{group}/offsets", ("button", "Undo")),
    "features/groups/components/create-group": at("/groups?new=group"),
    "features/groups/components/delete-group": at(GROUP_PAGE, MORE, ("menuitem", "Delete group")),
    "features/groups/components/move-offsets": at(*CHOSEN_GROUP, ("button", "Move offsets…")),
    "features/groups/components/pause-group": at(GROUP_PAGE, MORE, ("menuitem", "Pause group")),
    "features/messages/components/deliver-message": at(*ROW, ("button", "Deliver to one client")),
    "features/messages/components/message-drawer": at(*ROW),
    "features/messages/components/resend-message": at(*ROW, ("button", "Edit and send again")),
    "features/messages/components/save-search": at(
        MESSAGE, ("button", "Saved searches"), ("menuitem", "Save this search…")
    ),
    "features/scheduled/components/scheduled-drawer": at("/scheduled", ("row", f"{TOPIC}-41")),
    "features/transactions/components/transaction-drawer": at("/transactions", ("row", f"{TOPIC}-42")),
    "features/transactions/components/decide": at("/transactions", ("row", f"{TOPIC}-42"), ("button", "Roll back")),
    "features/schedules/components/create-schedule": at("/schedules?new=replay"),
    "features/schedules/components/edit-schedule": at("/schedules", MORE, ("menuitem", "Edit")),
    "features/schedules/components/pause-schedule": at("/schedules", MORE, ("menuitem", "Pause with a reason")),
    "features/schedules/components/schedule-runs": at("/schedules", MORE, ("menuitem", "Runs")),
    "features/schedules/components/schedule-actions": at("/schedules", MORE, ("menuitem", "Delete schedule")),
    "features/topics/components/change-topics": at(*CHOSEN_TOPIC, ("button", "Change settings")),
    "features/topics/components/create-topic": at("/topics?new=topic"),
    "features/topics/components/delete-topic": at(TOPIC_PAGE, MORE, ("menuitem", "Delete topic")),
    "features/topics/components/delete-topics": at(*CHOSEN_TOPIC, ("button", "Delete")),
    "features/topics/components/pause-topic": at(TOPIC_PAGE, MORE, ("menuitem", "Pause topic")),
    "features/topics/components/purge-topic": at(TOPIC_PAGE, MORE, ("menuitem", "Purge topic")),
    "features/transactions/components/hook-form": at("/transactions?tab=hooks&new=hook"),
    "features/transactions/components/hooks-panel": at("/transactions?tab=hooks", ("button", "Remove")),
    # Last: the console stays in the cluster that an address names.
    "features/broker-accounts/components/create-account": at(f"{ACCOUNTS}&new=account"),
    "features/broker-accounts/components/change-account": at(ACCOUNTS, ("button", f"Change {ACCOUNT}")),
    "features/broker-accounts/components/delete-account": at(ACCOUNTS, ("button", f"Delete {ACCOUNT}")),
    "features/broker-accounts/components/global-addresses": at(ACCOUNTS, ("button", "Change addresses")),
}
ELSEWHERE: Final = {
    # Open only where controllers choose the master: the tests of the page look at them.
    "features/brokers/components/add-replica",
    "features/brokers/components/adopt-state",
    "features/brokers/components/change-policy",
    "features/brokers/components/change-replica",
    # Opens only beside a broker that is gone: test_outage.py looks at it.
    "features/clusters/components/forget-broker",
    # The same dialog, beside one process of a broker that is gone while the others are there.
    "features/clusters/components/forget-process",
    # Open only on what a reconciliation found: test_jobs.py looks at them.
    "features/jobs/components/difference-drawer",
    "features/jobs/components/replay-missing",
}
_OPENS: Final = re.compile(r"<(?:FormDrawer|DockedDrawer|Modal|ConfirmDanger|ConfirmDelete)\s")


@pytest.fixture(scope="module")
def names(http: httpx.Client, data: Data, guarded: RunningBroker) -> Iterator[dict[str, str]]:
    """Something for every page to show, and what its address names."""
    data.create_topic(TOPIC)
    data.create_topic(COPY)
    data.send(TOPIC, *range(40))
    data.take(GROUP, TOPIC, most=5)
    data.give_up(GROUP, TOPIC, "the amount is missing", most=2)
    sent = _post(http, f"{LOCAL}/topics/{TOPIC}/messages", order(TOPIC, 40))
    _post(http, f"{LOCAL}/topics/{TOPIC}/messages", order(TOPIC, 41) | {"delay_ms": 36_000_000})
    _post(http, f"{LOCAL}/topics/{TOPIC}/messages?transaction=prepare", order(TOPIC, 42))
    job = {"type": "replay", "cluster": "local", "source": {"topic": TOPIC}, "target": {"topic": COPY}}
    _post(http, "/schedules", {"name": "access: nightly", "cron": "30 3 * * *", "zone": "UTC", "job": job})
    slowly = {"limits": {"messages_per_second": 1}}
    begun = _post(http, "/jobs", job | slowly | {"name": "access: again"})["id"]
    rule = {"name": "access: behind", "metric": "group_lag", "cluster": "local", "subject": GROUP, "limit": 1}
    made = _post(http, "/alert-rules", rule | {"for_ms": 0})["id"]
    _post(http, "/alert-channels", {"name": "access: hook", "kind": "webhook", "url": "https://example.com/hook"})
    _post(http, "/roles", {"name": "access-clerk", "rules": [{"kind": "topic", "pattern": "a*", "allow": ["read"]}]})
    _post(http, f"{LOCAL}/transaction-hooks", {"group": GROUP, "url": "https://example.com/hook", "secret": "a secret"})
    _post(http, f"/clusters/{GUARDED}/accounts", {"access_key": ACCOUNT})
    _post(http, "/users", {"username": "access-ann", "password": "long enough, really", "role": "viewer"})
    _post(http, "/clusters", {"name": "access-gone", "name_servers": ["127.0.0.1:9"]})
    plan = _post(http, f"{LOCAL}/groups/{GROUP}/offsets:preview", {"topic": TOPIC, "mode": "earliest"})["plan_id"]
    _post(http, f"{LOCAL}/groups/{GROUP}/offsets:apply", {"plan_id": plan})
    alerts = f"/alerts?rule={made}"
    wait_until(lambda: http.get(alerts).json()["items"])
    yield {
        "topic": TOPIC,
        "group": GROUP,
        "key": f"{TOPIC}-1",
        "id": f"{sent['results'][0]['message_id']}?topic={TOPIC}",
        "job": begun,
        "rule": made,
        "alert": http.get(alerts).json()["items"][0]["id"],
    }
    http.post(f"/jobs/{begun}:cancel")
    http.delete("/clusters/access-gone", headers={"If-Match": "*"}).raise_for_status()


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    answer = http.post(path, json=body)
    assert answer.is_success, f"{path}: {answer.text}"
    return answer.json()


@pytest.fixture
def still(console: Console) -> Console:
    """A tab whose user asked for less motion: what moves has no colour that could be measured."""
    console.page.emulate_media(reduced_motion="reduce")
    console.open("/")
    return console


def go(console: Console, path: str) -> None:
    """Go to a page, and wait until it shows what it has read."""
    console.open(path)
    expect(console.main.locator("[aria-busy=true]")).to_have_count(0)


_MOVING: Final = """() => document.getAnimations()
  .filter((each) => each.playState === "running" && each.effect.getComputedTiming().duration > 0)
  .map((each) => `${each.animationName ?? each.transitionProperty} of ${each.effect.target.outerHTML.slice(0, 120)}`)"""
_SIDEWAYS: Final = """() => [document.scrollingElement, ...document.querySelectorAll("#content")]
  .filter((each) => each.scrollWidth > each.clientWidth).map((each) => `${location.href} scrolls sideways`)"""


def faults(console: Console, *, within: str | None = None, without: str | None = None) -> list[str]:
    """Return what is wrong with what is shown now, in both themes and both sizes."""
    found = broken_rules(console.page, within=within, without=without)
    found += [f"{console.page.url}: moves: {each}" for each in console.page.evaluate(_MOVING)]
    console.page.set_viewport_size(PHONE)
    found += broken_rules(console.page, within=within or "main")
    found += console.page.evaluate(_SIDEWAYS)
    console.page.set_viewport_size(DESK)
    return found


def test_no_drawer_and_no_dialog_breaks_a_rule(still: Console, names: dict[str, str]) -> None:
    in_code = {
        str(file.relative_to(SOURCE).with_suffix(""))
        for part in ("app", "features")
        for file in (SOURCE / part).rglob("*.tsx")
        if not file.name.endswith(".test.tsx") and _OPENS.search(file.read_text(encoding="utf-8"))
    }
    assert in_code - ELSEWHERE == set(OPENED)
    found = []
    for part, opened in OPENED.items():
        go(still, opened.path.format_map(names))
        for role, name in opened.presses:
            still.page.get_by_role(role, name=name, exact=role != "row").first.click()
        popup = still.page.locator(f":is({POPUPS}):visible").last
        expect(popup).to_be_visible()
        found += [f"{part}: {fault}" for fault in faults(still, within=POPUPS)]
        if popup.get_attribute("role") == "dialog":
            still.page.keyboard.press("Escape")
            expect(still.page.get_by_role("dialog")).to_have_count(0)
    assert not found, "\n".join(found)


def test_no_page_breaks_a_rule(still: Console, names: dict[str, str]) -> None:
    found = broken_rules(still.page)
    # Half of the elements of a page are its side bar's, which is the same on all.
    expect(still.page.locator(SIDE_BAR)).to_have_count(1)
    for path in (*pages(with_tabs=True, **names), "/live/wallboard", "/no-such-page"):
        go(still, path)
        found += faults(still, without=SIDE_BAR)
    assert not found, "\n".join(found)


def test_no_menu_no_toast_and_no_refusal_breaks_a_rule(still: Console, names: dict[str, str]) -> None:
    page, found = still.page, []
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("textbox").fill(TOPIC)
    expect(page.get_by_role("dialog").get_by_text(TOPIC, exact=True).first).to_be_visible()
    found += faults(still)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Light or dark").hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    found += broken_rules(page)
    page.get_by_role("button", name="Language").click()
    expect(page.get_by_role("menu")).to_be_visible()
    found += faults(still)
    page.keyboard.press("Escape")
    # A name that is taken: the form says so
    go(still, "/topics?new=topic")
    form = page.get_by_role("complementary", name="Create topic")
    form.get_by_label("Topic", exact=True).fill(TOPIC)
    form.get_by_role("button", name=f"Create {TOPIC}").click()
    expect(page.get_by_role("alert").or_(form.locator("[aria-invalid=true]")).first).to_be_visible()
    still.watch.forgive("/api/v1/clusters/local/topics", 409)
    found += faults(still)
    assert not found, "\n".join(found)


def test_the_sign_in_page_breaks_no_rule(stranger: Console) -> None:
    stranger.page.emulate_media(reduced_motion="reduce")
    stranger.page.goto(f"{stranger.url}/login")
    stranger.sign_in("not the password")
    expect(stranger.page.get_by_role("alert")).to_be_visible()
    stranger.watch.forgive("/api/v1/login", 401)
    assert faults(stranger) == []
