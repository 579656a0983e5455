"""Settings of a controller by their names (controller/README.md#settings)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.controller.etcd.config import DEFAULTS as ETCD_DEFAULTS
from broker_core.controller.etcd.config import ENDPOINTS, EtcdConfig
from broker_core.errors import GantryError

ENABLE: Final = "enableControllerInNamesrv"
CLUSTER: Final = "controllerClusterName"
STORE: Final = "controllerStorePath"
TIMEOUT: Final = "controllerHeartBeatTimeoutMills"
_UNCLEAN: Final = "enableElectUncleanMaster"
_GROUPS_OF_RAFT: Final = ("controllerDLegerPeers", "controllerDLegerSelfId", "jraftConfig", "controllerType")
_DEFAULTS: Final = {ENABLE: "false", CLUSTER: "DefaultCluster", STORE: "~/gantry-controller", TIMEOUT: "3000"}
NAMES: Final = frozenset({*_DEFAULTS, *ETCD_DEFAULTS, _UNCLEAN, *_GROUPS_OF_RAFT})
"""Every setting of a controller, also those that are refused."""
_TIMEOUTS: Final = range(1_000, 600_001)
_SWITCH: Final = {"true": True, "false": False}


class ControllerRefused(GantryError):
    """A setting that cannot be used; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """Where a controller keeps its files, whose cluster it is, when a replica is dead, and its etcd if it has one."""

    folder: Path
    cluster: str = "DefaultCluster"
    timeout_seconds: float = 3.0
    etcd: EtcdConfig | None = None

    @classmethod
    def of(cls, texts: Mapping[str, str], usual: Mapping[str, str] | None = None) -> ControllerConfig | None:
        """Return what settings say, None if no controller is asked for.

        Those that are not given are as in `usual`, or have their defaults. Raises ControllerRefused and EtcdRefused,
        also for what is only said in case that there is a controller.
        """
        _refuse(texts)
        own = _DEFAULTS | dict(usual or {}) | {name: text.strip() for name, text in texts.items() if name in _DEFAULTS}
        of_etcd = {name: text for name, text in texts.items() if name in ETCD_DEFAULTS}
        if not own[CLUSTER]:
            raise ControllerRefused(f"{CLUSTER} is empty")
        config = cls(
            folder=_folder(own[STORE]),
            cluster=own[CLUSTER],
            timeout_seconds=_milliseconds(own[TIMEOUT]) / 1000,
            etcd=EtcdConfig.of(of_etcd, own[CLUSTER]) if of_etcd.get(ENDPOINTS, "").strip() else None,
        )
        return config if _switch(ENABLE, own[ENABLE]) else None


def _refuse(texts: Mapping[str, str]) -> None:
    for name in _GROUPS_OF_RAFT:
        if texts.get(name, "").strip():
            raise ControllerRefused(
                f"{name} is not served: several controllers keep their decisions in etcd, which {ENDPOINTS} names"
            )
    if _switch(_UNCLEAN, texts.get(_UNCLEAN, "false")):
        raise ControllerRefused(
            f"{_UNCLEAN} is not served: an operator accepts the loss of messages for one broker name and one time"
        )


def _switch(name: str, text: str) -> bool:
    if text.strip().lower() not in _SWITCH:
        raise ControllerRefused(f"{name}: {text[:80]!r} is not true or false")
    return _SWITCH[text.strip().lower()]


def _milliseconds(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:12]) in _TIMEOUTS):
        raise ControllerRefused(f"{TIMEOUT}: {text[:80]!r} is not from {_TIMEOUTS[0]} to {_TIMEOUTS[-1]} ms")
    return int(text)


def _folder(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ControllerRefused(f"{STORE}: {text[:80]!r} has no meaning for a user without a home folder") from error
