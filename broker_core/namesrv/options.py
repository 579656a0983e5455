"""A name server's own configuration by RocketMQ names: read by request 319, changed by request 318.

Most of it is fixed at the start. Changes are saved in a file next to the key-value settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from broker_core.errors import GantryError
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.settings import SettingsDamaged
from broker_core.namesrv.writing import Writer
from broker_core.remoting.tls_settings import PREFIX as TLS_PREFIX

FILE_NAME: Final = "namesrvSettings.json"

_ORDER: Final = "orderMessageEnable"
CHANGEABLE: Final = frozenset({_ORDER})
"""What request 318 can change."""
_TABLE: Final = "settings"
_PATHS: Final = frozenset({"kvConfigPath", "configStorePath", "rocketmqHome", "configBlackList"})
CHANGE_NETWORKS: Final = "changeNetworks"
"""The networks from which changes are taken; unset for all, and Gantry's own."""
_TOLD: Final = frozenset(
    {"listenPort", "bindAddress", "scanNotActiveBrokerInterval", "limitConnections", CHANGE_NETWORKS}
)
_SWITCH: Final = {"true": True, "false": False}


class OptionRefused(GantryError):
    """Raised for a setting that does not exist, or a value that is not accepted."""


class OptionFixed(GantryError):
    """Raised for a change of a setting that is fixed at the start."""


class Options:
    """The current configuration. `port` returns the port that the server listens on."""

    def __init__(self, config: NameServerConfig, *, port: Callable[[], int]) -> None:
        """Apply the changes saved by an earlier run to `config`; raises SettingsDamaged."""
        self._port = port
        self._file = config.settings_file.with_name(FILE_NAME) if config.settings_file is not None else None
        self._changes: dict[str, str] = _read(self._file) if self._file is not None and self._file.exists() else {}
        self._writer = None if self._file is None else Writer(self._file, lambda: {_TABLE: self._changes})
        self.config = config
        try:
            for name, text in self._changes.items():
                self.config = self._changed(self.config, name, text)
        except (OptionRefused, OptionFixed) as error:
            raise SettingsDamaged(f"{self._file}: {error}") from error

    def texts(self) -> dict[str, str]:
        """Return all names and their texts."""
        config = self.config
        return {
            "listenPort": str(self._port()),
            "bindAddress": config.host,
            "kvConfigPath": str(config.settings_file or ""),
            "configStorePath": str(self._file or ""),
            "scanNotActiveBrokerInterval": str(config.scan_interval_ms),
            "limitConnections": str(config.connections),
            _ORDER: str(config.order_message_enable).lower(),
            **({} if config.change_networks is None else {CHANGE_NETWORKS: config.change_networks.text}),
            **dict(config.tls.texts()),
        }

    async def update(self, texts: Mapping[str, str]) -> None:
        """Change the given settings, all or none; they are on the disk when this returns.

        Raises OptionRefused, OptionFixed, and OSError if they could not be written.
        """
        config = self.config
        for name, text in texts.items():
            config = self._changed(config, name, text.strip())
        self.config = config
        self._changes |= {name: text.strip() for name, text in texts.items()}
        if self._writer is not None:
            await self._writer.written()

    async def close(self) -> None:
        """Let what is being written end."""
        if self._writer is not None:
            await self._writer.close()

    def _changed(self, config: NameServerConfig, name: str, text: str) -> NameServerConfig:
        if name in _PATHS:
            raise OptionFixed("Can not update config path")
        if name not in CHANGEABLE:
            if name in _TOLD or name.startswith(TLS_PREFIX):
                raise OptionFixed(f"setting {name} can be set only at the start of the name server")
            raise OptionRefused(f"this name server has no setting {name[:80]!r}")
        if text.lower() not in _SWITCH:
            raise OptionRefused(f"setting {name}: {text[:80]!r} is not true or false")
        return replace(config, order_message_enable=_SWITCH[text.lower()])


def _read(file: Path) -> dict[str, str]:
    try:
        tree: Any = orjson.loads(file.read_bytes())[_TABLE]
        return {str(name): str(text) for name, text in tree.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SettingsDamaged(f"{file} holds no settings: {error}") from error
