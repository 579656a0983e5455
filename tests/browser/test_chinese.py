"""The pages and drawers in Chinese: no English is left over, but names, codes and what operators call so themselves."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import expect

from console.accounts.rights import VERBS
from tests.browser.chinese import leftovers
from tests.browser.data import LOCAL, Data
from tests.browser.pages import Console

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

TOPIC, GROUP, CAUSE, RULE = "walk", "walk-reader", "no amount", "walk-behind"
DATA: Final = (
    *(TOPIC, GROUP, CAUSE, RULE, "local", "broker-a", "hello", "moon", "quickstart"),
    *("created", "paid", "shipped", "region", "north", "south", "orders", "payments"),
    *("KEYS", "TAGS", "CLUSTER", "customer", "lines", "amount"),  # of messages
    *("operator", "developer", "viewer", *VERBS),  # roles and scopes, as programs name them
    *("replay", "reconcile", "redrive", "export"),  # types of jobs, which patterns of names cover
)
ROW: Final = "the first row"
# A page, and what is pressed there, one way after the other; each way begins at the page as it is opened.
WAYS: Final[dict[str, list[tuple[str, ...]]]] = {
    "/": [("快捷键",), ("admin 的菜单",), ("跳转到 Topic、消费组或消息 ID",)],
    f"/topics/{TOPIC}": [
        ("更多操作", each) for each in ("暂停 Topic", "清空 Topic", "删除 Topic", "按此设置新建 Topic")
    ],
    **{f"/topics/{TOPIC}?tab={tab}": [] for tab in ("queues", "groups", "producers", "sample", "produce", "config")},
    "/topics?new=topic": [],
    f"/groups/{GROUP}": [("更多操作", each) for each in ("暂停消费组", "克隆消费组", "删除消费组")],
    **{f"/groups/{GROUP}?tab={tab}": [] for tab in ("clients", "subscriptions", "dead-letters", "config")},
    f"/groups/{GROUP}/offsets?topic={TOPIC}&mode=latest": [("预览",)],
    "/groups?new=group": [],
    f"/messages?topic={TOPIC}&key={TOPIC}-1": [(ROW,), (ROW, "编辑并重发"), (ROW, "投递给一个客户端")],
    f"/messages?mode=content&topic={TOPIC}": [],
    "/messages?mode=keys": [],
    "/dead-letters": [(f"选择 {GROUP} 的 {CAUSE}",)],
    f"/scheduled?key={TOPIC}-900": [(ROW,)],
    f"/transactions?topic={TOPIC}": [(ROW,), (ROW, "提交")],
    "/transactions?tab=given_up": [],
    **{
        f"/alerts?{query}": [] for query in ("tab=channels", "tab=deliveries", "new=rule", "new=silence", "new=channel")
    },
    "/alerts?tab=rules": [(ROW,)],
    "/broker?find=flushDiskType": [("修改 flushDiskType",)],
    **{f"/access?{query}": [] for query in ("tab=users", "tab=roles", "tab=sessions", "new=token", "new=user")},
    "/settings?tab=definitions": [],
    "/clusters?new=cluster": [],
    f"/jobs/new/replay?topic={TOPIC}&target={TOPIC}&step=start": [],
    f"/jobs/new/replay?topic={TOPIC}&step=target": [],
    f"/jobs/new/replay?topic={TOPIC}&tkind=parquet&step=target": [],
    f"/jobs/new/replay?topic={TOPIC}&tkind=parquet&step=start": [],
    "/jobs": [("更多筛选",)],
    "/jobs?workers=all": [],
    f"/jobs/new/export?topic={TOPIC}&step=source&bounds=offsets": [],
    f"/jobs/new/export?topic={TOPIC}&step=file": [],
    f"/jobs/new/export?topic={TOPIC}&step=start": [],
    **{f"/jobs/new/redrive?group={GROUP}&step={step}": [] for step in ("which", "send", "limits", "start")},
    **{f"/jobs/new/reconcile?rkind={kind}": [] for kind in ("topic", "group", "csv", "postgresql")},
    "/jobs/new/reconcile?check=store&step=start": [],
    f"/jobs/new/reconcile?left={TOPIC}&rkind=csv&rpath=b&step=compare": [],
    **{f"/schedules?new={kind}": [] for kind in ("replay", "reconcile", "export")},
    **{path: [] for path in ("/live", "/topics", "/groups", "/schedules", "/clusters", "/settings")},
    "/topics/moon": [],
    "/moon": [],
}


@pytest.fixture(scope="module")
def walked(data: Data) -> None:
    """Something of each kind that a page shows."""
    data.create_topic(TOPIC)
    data.send(TOPIC, *range(12))
    data.send(TOPIC, 900, delay_ms=36_000_000)
    data.prepare(TOPIC, 901)
    data.give_up(GROUP, TOPIC, CAUSE, most=2)
    rule = {"name": RULE, "metric": "group_lag", "cluster": "local", "subject": GROUP, "limit": 1, "for_ms": 0}
    answer = data.http.post("/alert-rules", json=rule)
    assert answer.is_success, answer.text
    assert data.http.get(f"{LOCAL}/groups/{GROUP}").is_success


@pytest.mark.usefixtures("walked")
def test_no_page_and_no_drawer_has_english_left_over(console: Console, data: Data) -> None:
    console.page.add_init_script("localStorage.setItem('gantry.language', '\"zh\"')")
    found: list[str] = []
    names = [*DATA, *_names(data)]
    for path, ways in WAYS.items():
        for way in ways or [()]:
            console.open(path)
            for name in way:
                _press(console, name)
            expect(console.page.locator("[aria-busy=true]")).to_have_count(0)
            found += [f"{path} {' '.join(way)}: {text}" for text in leftovers(console.page, names)]
            if way:  # what was opened goes with its page
                console.reload()
    console.watch.forgive(f"/api/v1{LOCAL}/topics/moon", 404)
    console.watch.forgive(f"/api/v1{LOCAL}/topics/moon/messages", 404, is_certain=False)
    assert not found, "\n".join(found)


def _names(data: Data) -> list[str]:
    """Return what other tests of the same installation called their things."""
    found = [("name", f"{LOCAL}/topics"), ("name", f"{LOCAL}/groups"), ("name", "/roles"), ("username", "/users")]
    return [each[name] for name, path in found for each in data.http.get(path).json()["items"]]


def _press(console: Console, name: str) -> None:
    if name == ROW:
        console.main.get_by_role("row").nth(1).get_by_role("cell").nth(1).click()
        return
    roles = [console.page.get_by_role(role, name=name) for role in ("button", "menuitem", "checkbox")]
    roles[0].or_(roles[1]).or_(roles[2]).first.click()
