"""The register of consumer groups and their settings; a group is created at its first use (broker/README.md#groups).

Saved as ``subscriptionGroup.json``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import orjson

from broker_core.broker.config import TopicDefaults
from broker_core.broker.errors import BadConfigFile, GroupNotFound, GroupPaused
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.names import check_names
from broker_core.broker.saving import JsonFile
from broker_core.broker.shares import CreatedBy, FirstUses
from broker_core.logs import get_logger
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig, SubscriptionGroupWrapper
from broker_core.protocol.bodies.topics import DataVersion, is_same_version
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.topics import BROWSING_GROUP, MAX_GROUP_NAME, SYSTEM_GROUP_PREFIX

FILE_NAME: Final = "subscriptionGroup.json"

BUILT_IN: Final = (
    BROWSING_GROUP,
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)

_log = get_logger(__name__)


class Groups:
    """All consumer groups of this broker, by name."""

    def __init__(self, file: JsonFile, *, defaults: TopicDefaults, limits: BrokerLimits) -> None:
        self._file = file
        self.auto_create = defaults.auto_create_groups
        self._limits = limits
        self._first_uses = FirstUses(limits, "groups")
        self._table = {name: SubscriptionGroupConfig(name) for name in BUILT_IN}
        self.version = DataVersion()
        self.is_changed = False

    def __len__(self) -> int:
        return len(self._table)

    def find(self, group: str) -> SubscriptionGroupConfig | None:
        """Return a group's settings."""
        return self._table.get(group)

    def all(self) -> Collection[SubscriptionGroupConfig]:
        """Return all groups, built-in ones included."""
        return self._table.values()

    def creator_of(self, group: str) -> str:
        """Return the account for which a group and its topics count: the one that used it first; empty for none."""
        return self._first_uses.account_of(group)

    def get_or_create(self, group: str, *, now: int, account: str = "") -> SubscriptionGroupConfig:
        """Return a group's settings, created with defaults at its first use; it counts for the account that uses it.

        Raises GroupNotFound when automatic creation is off, and what `put` raises.
        """
        config = self._table.get(group)
        if config is None:
            if not group or not (self.auto_create or group.startswith(SYSTEM_GROUP_PREFIX)):
                raise GroupNotFound(group)
            config = SubscriptionGroupConfig(group)
            self._first_uses.check(account, len(self._table), f"group {group!r} was not created")
            self.put(config, now=now)
            self._first_uses.add(group, account)
        return config

    def find_consuming(self, group: str) -> SubscriptionGroupConfig | None:
        """Return the settings of a group that may consume, None for an unknown one; raises GroupPaused."""
        config = self._table.get(group)
        if config is not None and not config.consume_enable:
            raise GroupPaused(group)
        return config

    def get_consuming(self, group: str, *, now: int, account: str = "") -> SubscriptionGroupConfig:
        """Return the settings of a group that may consume; raises GroupPaused, and as `get_or_create`."""
        return self.find_consuming(group) or self.get_or_create(group, now=now, account=account)

    def wrapper(self) -> SubscriptionGroupWrapper:
        """Return all groups with their version, as sent over the wire and saved in the file."""
        return SubscriptionGroupWrapper(self.version, dict(self._table))

    def put(self, config: SubscriptionGroupConfig, *, now: int) -> None:
        """Create a group or replace its settings.

        Raises LimitReached when there are too many groups, and IllegalArgument for too long a name.
        """
        name = config.group_name
        check_names(consumerGroup=name)
        if name not in self._table:
            if len(self._table) >= self._limits.groups:
                raise self._limits.refuse("groups", f"group {name!r} was not created")
            if len(name) > MAX_GROUP_NAME:
                _log.warning("group=%s: over %d characters, so it has no retries", name, MAX_GROUP_NAME)
        self._table[name] = config
        self._changed(now)

    def put_all(self, configs: Sequence[SubscriptionGroupConfig], *, now: int) -> None:
        """Put several groups; raise what `put` raises, before any change."""
        for config in configs:
            check_names(consumerGroup=config.group_name)
        news = {config.group_name for config in configs} - self._table.keys()
        if news and len(self._table) + len(news) > self._limits.groups:
            raise self._limits.refuse("groups", f"group {min(news)!r} was not created")
        for config in configs:
            self.put(config, now=now)

    def replace(self, wrapper: SubscriptionGroupWrapper) -> bool:
        """Become the register of another broker, with its version; return whether anything was different."""
        if is_same_version(wrapper.data_version, self.version):
            return False
        self._table = dict(wrapper.subscription_group_table)
        self.version = wrapper.data_version
        self.is_changed = True
        return True

    def delete(self, group: str, *, now: int) -> None:
        """Delete a group's settings; nothing happens for an unknown group."""
        if self._table.pop(group, None) is not None:
            self._first_uses.forget(group)
            self._changed(now)

    def _changed(self, now: int) -> None:
        self.version = DataVersion(self.version.counter + 1, now, self.version.state_version)
        self.is_changed = True

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self.is_changed = False
        tree = coder.to_tree(self.wrapper()) | coder.to_tree(self._first_uses.table())
        return orjson.dumps(tree, option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Add the groups of the file to the built-in ones, overriding these; raises BadConfigFile."""
        tree: Any = self._file.load()
        if tree is None:
            return
        try:
            wrapper = coder.from_tree(SubscriptionGroupWrapper, tree)
            created_by = coder.from_tree(CreatedBy, tree).created_by
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of groups: {error}") from error
        self._table.update(wrapper.subscription_group_table)
        self._first_uses.load(created_by, self._table)
        self.version = wrapper.data_version
