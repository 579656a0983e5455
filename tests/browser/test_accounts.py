"""The accounts of brokers in the console: how access control is switched on, and the life of an account."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.signature import Credentials
from tests.browser.guarded import GUARDED, SIGNED_WITH
from tests.browser.pages import Console
from tests.browser.shots import shoot
from tests.support.cluster import RunningBroker

PAGE = f"/broker?cluster={GUARDED}&tab=accounts"


def row(console: Console, key: str) -> Locator:
    """Return the row of an account, whose first cell has its marks too."""
    return console.main.get_by_label("Accounts", exact=True).get_by_role("row").filter(has_text=key)


def test_the_page_says_how_access_control_is_switched_on(console: Console) -> None:
    console.open("/broker?tab=accounts")
    expect(console.main.get_by_text("Access control is off", exact=True)).to_be_visible()
    expect(console.main.get_by_text("GANTRY_ACL=on make up")).to_be_visible()
    expect(console.main.get_by_text("off: serves everybody")).to_be_visible()
    shoot(console.page, "accounts-off")


def test_the_life_of_an_account(console: Console, guarded: RunningBroker) -> None:
    page = console.page
    console.open(PAGE)
    own = row(console, SIGNED_WITH["access_key"])
    expect(own).to_contain_text("Gantry signs with it")
    expect(own.get_by_role("button", name="Delete")).to_have_count(0)

    console.main.get_by_role("button", name="Create account").click()
    page.get_by_label("Access key").fill("depot-service")
    page.get_by_role("button", name="Add a topic").click()
    page.get_by_label("Topic", exact=True).fill("parcels")
    page.get_by_role("button", name="Create depot-service").click()
    expect(page.get_by_text("This secret key is shown only now.")).to_be_visible()
    shoot(page, "accounts-secret")
    text = page.get_by_text("secretKey: ").inner_text()
    secret = text.partition("secretKey: ")[2].split()[0]
    page.get_by_role("button", name="I have saved it").click()
    expect(row(console, "depot-service")).to_contain_text("parcels=PUB|SUB")
    account = Credentials("depot-service", secret)
    with BlockingSession(ClientConfig([guarded.name_server], credentials=account)) as session:
        assert session.run(session.admin.maintenance.settings_of(guarded.address))["aclEnable"] == "true"

    console.main.get_by_role("button", name="Change depot-service").click()
    page.get_by_role("button", name="Remove parcels").click()
    page.locator("form").get_by_role("button", name="Change depot-service").click()
    expect(row(console, "depot-service")).not_to_contain_text("parcels")
    shoot(page, "accounts")

    console.main.get_by_role("button", name="Delete depot-service").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("depot-service")
    dialog.get_by_role("button", name="Delete depot-service").click()
    expect(row(console, "depot-service")).to_have_count(0)


def test_addresses_that_need_no_account_are_changed(console: Console, guarded: RunningBroker) -> None:
    console.open(PAGE)
    expect(console.main.get_by_text("None: everybody needs an account.")).to_be_visible()
    console.main.get_by_role("button", name="Change addresses").click()
    form = console.page.locator("form")
    form.get_by_label("Addresses").fill("10.20.0.{7,9}\n10.21.*.*")
    form.get_by_role("button", name="Change addresses").click()
    for address in ("10.20.0.7", "10.20.0.9", "10.21.*.*"):
        expect(console.main.get_by_text(address, exact=True)).to_be_visible()
