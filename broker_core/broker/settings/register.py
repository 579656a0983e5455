"""The broker's current settings: read by name, changed at run time, saved over restarts.

Changes are saved as ``brokerSettings.json``; those of the start (`BrokerConfig.settings`) override the file. What is
given at the start and read there alone cannot be changed.
The parts of the broker that depend on a setting watch the register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Never

import orjson

from broker_core.broker.config import BrokerConfig
from broker_core.broker.errors import BadConfigFile, Refused, SettingFixed, SettingIllegal, SettingUnknown
from broker_core.broker.saving import JsonFile
from broker_core.broker.settings.table import BLACK_LIST, CHECKS, SETTINGS, Holds, facts
from broker_core.logs import get_logger
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.topics import DataVersion
from broker_core.protocol.errors import MalformedBody

FILE_NAME: Final = "brokerSettings.json"
_CHANGES: Final = "settings"

Watcher = Callable[[BrokerConfig], None]

_log = get_logger(__name__)


class Settings:
    """The settings of one broker."""

    def __init__(self, config: BrokerConfig, file: JsonFile) -> None:
        """Start with the given configuration; `load` applies the saved changes."""
        self._file = file
        self._given = frozenset(config.settings)
        self._changes: dict[str, str] = {}
        self._watchers: list[Watcher] = []
        self._wanted = config
        self.config = config
        self.version = DataVersion()
        self.is_changed = False

    @classmethod
    def of(cls, config: BrokerConfig) -> Settings:
        """Return the settings of a broker whose folder is in `config`; raises BadConfigFile and `Refused`."""
        settings = cls(config, JsonFile(config.config_folder / FILE_NAME))
        settings.load()
        return settings

    # -- reading

    def lines(self, address: str) -> Iterator[tuple[str, str]]:
        """Return all names and texts, including changes that take effect at the next start."""
        yield from facts(self.config, address)
        for name, setting in SETTINGS.items():
            yield name, setting.text(self._wanted)

    def watch(self, watcher: Watcher) -> None:
        """Call `watcher` with the configuration, now and after every change."""
        self._watchers.append(watcher)
        watcher(self.config)

    # -- changing

    def update(self, texts: Mapping[str, str], *, now: int) -> None:
        """Change settings, all or none, and call the watchers.

        Raises SettingUnknown, SettingIllegal, SettingFixed.
        """
        wanted, current = self._wanted, self.config
        for name, text in texts.items():
            before, wanted = wanted, self._changed(wanted, name, text)
            self._check_start(name, before, wanted)
            if SETTINGS[name].holds is Holds.LIVE:
                current = self._changed(current, name, text)
        self._check_together(wanted)
        self._wanted = wanted
        self._changes |= {name: SETTINGS[name].text(wanted) for name in texts}
        self.version = DataVersion(self.version.counter + 1, now)
        self.is_changed = True
        for name in texts:
            _log.info("setting=%s: %s, takes effect %s", name, self._changes[name], SETTINGS[name].holds)
        self.config = current
        for watcher in self._watchers:
            watcher(current)

    def _changed(self, config: BrokerConfig, name: str, text: str) -> BrokerConfig:
        setting = SETTINGS.get(name)
        if setting is None:
            self._refuse(name)
        try:
            return setting.put(config, text.strip())
        except ValueError as error:
            raise SettingIllegal(name, str(error)) from error

    def _check_start(self, name: str, before: BrokerConfig, wanted: BrokerConfig) -> None:
        """Raise SettingFixed where the next start would override the change before it ever took effect."""
        setting = SETTINGS[name]
        if setting.holds is Holds.AT_START and name in self._given and setting.text(before) != setting.text(wanted):
            raise SettingFixed(
                f"setting {name} is given at the start, as {setting.text(before)!r}, which a change would not outlive: "
                "change it where the broker is started"
            )

    def _check_together(self, config: BrokerConfig) -> None:
        for name, check in CHECKS.items():
            try:
                check(config)
            except ValueError as error:
                raise SettingIllegal(name, str(error)) from error

    def _refuse(self, name: str) -> Never:
        if name in BLACK_LIST:
            raise SettingFixed("Can not update config in black list.")
        if name in dict(facts(self.config, "")):
            raise SettingFixed(f"setting {name} is fixed or can be set only at the start")
        raise SettingUnknown(name)

    # -- the file

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self.is_changed = False
        version = {"counter": self.version.counter, "timestamp": self.version.timestamp}
        return orjson.dumps({"dataVersion": version, _CHANGES: self._changes}, option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Apply the settings of the file, then those of the command line.

        Raises BadConfigFile for a wrong setting in the file, and `Refused` for one of the start.
        """
        config, started_with = self.config, self.config.settings
        tree: Any = self._file.load()
        if tree is not None:
            self._changes, self.version = self._parsed(tree)
        for name, text in self._changes.items():
            try:
                config = self._changed(config, name, text)
            except Refused as error:
                raise BadConfigFile(f"{self._file}: {error}") from error
        for name, text in started_with.items():
            config = self._changed(config, name, text)
            if name in self._changes and self._changes[name] != SETTINGS[name].text(config):
                _log.warning("setting=%s: %r, given at the start, overrides %r", name, text, self._changes[name])
        self._check_together(config)
        self.config = self._wanted = config

    def _parsed(self, tree: Any) -> tuple[dict[str, str], DataVersion]:
        try:
            changes = {str(name): str(text) for name, text in tree[_CHANGES].items()}
            return changes, coder.from_tree(DataVersion, tree.get("dataVersion", {}))
        except (KeyError, TypeError, AttributeError, MalformedBody) as error:
            raise BadConfigFile(f"{self._file} is not a table of settings: {error!r}") from error
