"""Requirements of `console.brokers.settings` on an Apache RocketMQ broker."""

from __future__ import annotations

from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.brokers import settings
from console.brokers.settings import BrokerName, Read
from console.errors import NotServed
from tests.support.cast import BY

TEXTS = {
    "fileReservedTime": "72",
    "flushDiskType": "ASYNC_FLUSH",
    "useEpollNativeSelector": "false",
    "sslPassword": "x",
}
FOUND = Read(BrokerName("prod", "broker-a"), "10.0.0.1:10911", TEXTS)


def reporting(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the broker report these settings after a change."""

    def ask(_cluster: str, _question: Any) -> tuple[str, dict[str, str]]:
        return FOUND.address, texts

    monkeypatch.setattr(settings, "ask", ask)


def test_all_settings_are_shown_and_only_those_known_to_be_safe_can_be_changed() -> None:
    rows = {row.name: row for row in settings.shown(FOUND).settings}

    assert rows["fileReservedTime"].effect == "live"
    assert [rows[name].fixed for name in ("flushDiskType", "useEpollNativeSelector")] == ["not_known_safe"] * 2
    assert rows["sslPassword"].value is None
    with pytest.raises(NotServed, match="configuration file") as refused:
        settings.preview(FOUND, {"flushDiskType": "SYNC_FLUSH"})
    assert [fault.code for fault in refused.value.faults] == ["SETTING_FIXED"]


@pytest.mark.django_db
def test_a_change_that_the_broker_answered_and_ignored_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reporting(TEXTS, monkeypatch)

    changed = settings.change(BY, FOUND, {"fileReservedTime": "48"})

    assert [(each.after, each.result) for each in changed.changes] == [("72", "ignored")]
    assert changed.undo == {}
    assert AuditRecord.objects.get(action="broker.update").result == "partial"


@pytest.mark.django_db
def test_a_change_that_changes_nothing_is_neither_sent_nor_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ask", None)

    changed = settings.change(BY, FOUND, {"fileReservedTime": "72"})

    assert [each.result for each in changed.changes] == ["same"]
    assert not AuditRecord.objects.filter(action="broker.update").exists()
