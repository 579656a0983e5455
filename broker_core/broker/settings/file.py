"""The configuration file of a broker, as RocketMQ's takes it with ``-c`` (broker/README.md#configuration-file).

A setting of `table.py` is obeyed, and so is what says where the broker listens, registers and stores. What is always
so here (`fixed.py`, and what is shown as a setting) may be said, but not said otherwise. What only sizes RocketMQ's own
program is taken without effect. Any other name is refused, because whoever wrote it expects something of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.broker.config import BrokerConfig
from broker_core.broker.settings import kinds
from broker_core.broker.settings.fixed import FIXED
from broker_core.broker.settings.table import SETTINGS, facts
from broker_core.broker.settings.without_effect import WITHOUT_EFFECT
from broker_core.properties_file import Rule, absolute_path, by_rules, only, read_pairs, tcp_port, without_effect
from broker_core.protocol.topics import TOPIC_NAME
from broker_core.remoting.tls_settings import NAMES as TLS_NAMES
from broker_core.store import StoreConfig

_SERVER: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9._:-]+")
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - as RocketMQ does, whose file it is
BROKER_ID: Final = kinds.number(0, 2**31 - 1)
_STORE: Final = "storePathRootDir"
_BELOW_STORE: Final = {
    "storePathCommitLog": "commitlog", "storePathConsumeQueue": "consumequeue", "storePathIndex": "index",
    "storeCheckpoint": "checkpoint", "abortFile": "abort",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a file says; None where it does not."""

    settings: Mapping[str, str]
    """Those of `table.py`, as texts."""
    without_effect: tuple[str, ...]
    """The names that were taken and do nothing."""
    cluster: str | None = None
    name: str | None = None
    broker_id: int | None = None
    name_servers: tuple[str, ...] = ()
    bind: str | None = None
    port: int | None = None
    advertise: str | None = None
    store: Path | None = None
    tls: Mapping[str, str] = field(default_factory=dict)
    """The settings of TLS, as texts."""


def read_config(file: Path) -> ConfigFile:
    """Return what a file says; raise BadPropertiesFile, which names everything that is refused."""
    pairs = read_pairs(file)
    found = by_rules(file, pairs, _rules(pairs))
    return ConfigFile(
        settings={name: pairs[name] for name in found if name in SETTINGS},
        without_effect=tuple(sorted(WITHOUT_EFFECT & found.keys())),
        cluster=found.get("brokerClusterName"),
        name=found.get("brokerName"),
        broker_id=found.get("brokerId"),
        name_servers=found.get("namesrvAddr", ()),
        bind=found.get("bindAddress", EVERYWHERE),
        port=found.get("listenPort"),
        advertise=found.get("brokerIP1"),
        store=found.get(_STORE),
        tls={name: pairs[name] for name in found if name in TLS_NAMES},
    )


def name_servers(text: str) -> tuple[str, ...]:
    """Return the addresses in ``host:port;host:port``; raise ValueError for any other text."""
    addresses = tuple(each.strip() for each in text.split(";") if each.strip())
    for each in addresses:
        found = _SERVER.fullmatch(each)
        if found is None or not 1 <= int(found[2]) <= 65_535:
            raise ValueError(f"{each[:80]!r} is not host:port")
    if not addresses:
        raise ValueError("no address is given")
    return addresses


def _rules(pairs: Mapping[str, str]) -> dict[str, Rule]:
    store = pairs.get(_STORE, "")
    return {
        **{name: only(text) for name, text in facts(BrokerConfig(StoreConfig.embedded(Path("store"))), "")},
        **dict.fromkeys(WITHOUT_EFFECT, without_effect),
        **FIXED,
        **{name: _below(store, part) for name, part in _BELOW_STORE.items()},
        **dict.fromkeys(TLS_NAMES, str),
        **{name: setting.kind.read for name, setting in SETTINGS.items()},
        "brokerClusterName": identity_name,
        "brokerName": identity_name,
        "brokerId": BROKER_ID.read,
        "namesrvAddr": name_servers,
        "bindAddress": _address,
        "listenPort": tcp_port,
        "brokerIP1": _address,
        _STORE: absolute_path,
    }


def identity_name(text: str) -> str:
    """Return the name of a broker or cluster, which is that of a topic too; raise ValueError if it cannot be one."""
    if TOPIC_NAME.fullmatch(text) is None:
        raise ValueError(f"{text[:80]!r} is not a name of letters, digits, %, |, _ and -")
    return text


def _address(text: str) -> str:
    if _ADDRESS.fullmatch(text) is None:
        raise ValueError(f"{text[:80]!r} is not an address")
    return text


def _below(store: str, part: str) -> Rule:
    def rule(text: str) -> None:
        if not store or Path(text).expanduser() != Path(store).expanduser() / part:
            raise ValueError(f"it is always {part!r} in the folder of {_STORE}")

    return rule
