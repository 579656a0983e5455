"""Requirements of `console.brokers.catalogue`: it says of Gantry's settings what its broker does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broker_core.broker.config import BrokerConfig
from broker_core.broker.settings.table import SETTINGS, Holds
from broker_core.store.config import StoreConfig
from console.brokers.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[3]
_EFFECTS = {Holds.LIVE: "live", Holds.AT_START: "at_start"}


def test_it_knows_every_setting_of_a_gantry_broker() -> None:
    assert {name for name, known in CATALOGUE.items() if known.gantry or name == "rejectTransactionMessage"} == set(
        SETTINGS
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_it_agrees_with_the_broker(name: str, tmp_path: Path) -> None:
    of_broker, known = SETTINGS[name], CATALOGUE[name]

    assert (known.accepts.words, known.gantry) == (of_broker.kind.takes, _EFFECTS[of_broker.holds])
    assert known.default == of_broker.text(BrokerConfig(StoreConfig(tmp_path)))


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_default_is_accepted_as_it_is_written(name: str) -> None:
    known = CATALOGUE[name]

    assert known.accepts.check(known.default_on("gantry")) == known.default


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fileReservedTime", "-1"),
        ("fileReservedTime", "48h"),
        ("deleteWhen", "24"),
        ("brokerPermission", "8"),
        ("longPollingEnable", "yes"),
        ("messageDelayLevel", "1s 5x"),
        ("regionId", "a region"),
    ],
)
def test_what_a_broker_would_refuse_is_refused_before_it_is_asked(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        CATALOGUE[name].accepts.check(text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_console_has_words_for_every_setting(language: str) -> None:
    words = (ROOT / "frontend/src/locales" / language / "brokers.ts").read_text()
    meanings = set(re.findall(r"^ +(\w+): ", words.partition("meanings: {")[2], re.MULTILINE))

    assert meanings == set(CATALOGUE)
