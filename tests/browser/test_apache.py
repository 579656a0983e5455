"""The console with an Apache RocketMQ 4.9 cluster chosen: it is used like any other, and what it lacks is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.flow import press
from tests.browser.pages import Console
from tests.browser.shots import shoot
from tests.browser.walk import pages, read
from tests.compat import java_build
from tests.support.apache import ApacheBroker, started_apache
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

APACHE: Final = "apache"
API: Final = f"/api/v1/clusters/{APACHE}"
LACKS: Final = {
    "en": {
        "/scheduled": "This cluster lacks a list of what waits",
        "/groups/billing": "This cluster lacks leases",
        "/groups/billing?tab=clients": "this cluster lacks leases",
        "/topics/orders?tab=produce": "This cluster has these delays only",
    },
    "zh": {
        "/scheduled": "该集群不支持列出待投递消息",
        "/groups/billing": "该集群不支持租约",
        "/groups/billing?tab=clients": "该集群不支持租约",
        "/topics/orders?tab=produce": "该集群仅支持这些延迟",
    },
}
_BARE_KEY: Final = re.compile(r"\b(?:abilities|states|topics|groups|scheduled|first|produce)\.[a-z]\w+\b")


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    """Apache RocketMQ's name server and broker."""
    if missing := java_build.missing_tool():
        pytest.skip(f"left out: Apache RocketMQ's broker needs a JDK and Maven, and there is no {missing}")
    java_build.SERVER.build()
    with started_apache(tmp_path_factory.mktemp(APACHE)) as running:
        yield running


def test_a_cluster_is_added_and_used_and_every_page_says_what_it_lacks(
    console: Console, apache: ApacheBroker, http: httpx.Client
) -> None:
    _is_added(console, apache)
    wait_until(lambda: http.get(f"/clusters/{APACHE}").json()["reachable"])
    _is_used(console)
    http.post(f"/clusters/{APACHE}/groups", json={"name": "billing"}).raise_for_status()
    wait_until(lambda: http.get(f"/clusters/{APACHE}/groups/billing").is_success)
    found = {}
    for path in pages(topic="orders", group="billing", key="orders-7"):
        found[path] = read(console, path, APACHE)
        assert console.main.get_by_role("alert").count() == 0, f"{path}: {found[path]}"
        assert not any(_BARE_KEY.search(words) for words in found[path].values()), path
        shoot(console.page, f"apache{path.translate(str.maketrans('/?=&', '----'))}", schemes=("light",))
    for language, lacks in LACKS.items():
        assert {path: words for path, words in lacks.items() if words not in found[path][language]} == {}
    console.watch.forgive(f"{API}/scheduled/summary", 422)


def _is_added(console: Console, apache: ApacheBroker) -> None:
    """Add the cluster by its form, which tries the connection first, and choose it in the menu."""
    console.open("/clusters")
    console.page.get_by_role("button", name="Add cluster").click()
    form = console.page.get_by_role("complementary", name="Add a cluster")
    form.get_by_label("Name", exact=True).fill(APACHE)
    form.get_by_label("Name servers").fill(apache.name_server)
    form.get_by_role("button", name="Try the connection").click()
    expect(form).to_contain_text("What it can do")
    added = console.page.get_by_text(f"Cluster {APACHE} was added")
    press(form.get_by_role("button", name="Add cluster"), added)
    expect(form).to_have_count(0)
    console.sidebar.locator("xpath=ancestor::*[1]").get_by_role("button", name="local").click()
    console.page.get_by_role("menuitem", name=APACHE).click()
    expect(console.page).to_have_url(re.compile(f"cluster={APACHE}"))


def _is_used(console: Console) -> None:
    """Create a topic, send to it, and find the message by its key."""
    console.open(f"/topics?new=topic&cluster={APACHE}")
    form = console.page.get_by_role("complementary", name="Create topic")
    expect(form.get_by_label("Message type")).to_be_disabled()
    form.get_by_label("Topic", exact=True).fill("orders")
    form.get_by_role("button", name="Create orders").click()
    expect(console.title).to_have_text("orders")
    console.page.get_by_role("button", name="Produce").click()
    console.page.get_by_label("Keys", exact=True).fill("orders-7")
    console.page.get_by_label("Body", exact=True).fill('{"id": "orders-7"}')
    console.page.get_by_role("combobox", name="Delivery").click()
    expect(console.page.get_by_role("option", name="At a time")).to_have_count(0)
    console.page.keyboard.press("Escape")
    console.page.get_by_role("button", name="Send to orders").click()
    expect(console.main).to_contain_text("Stored")
    console.open(f"/messages?topic=orders&key=orders-7&cluster={APACHE}")
    expect(console.main.get_by_role("status")).to_contain_text("1 match")
