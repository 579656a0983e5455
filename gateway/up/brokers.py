"""What `make up` does before it starts brokers: none with messages is left out, a new one knows the topics."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from broker_core.protocol import fastjson
from broker_core.protocol.errors import MalformedBody
from console.clusters.own_brokers import (
    MOST_BROKERS,
    MOST_REPLICAS,
    broker_names,
    folder_of,
    replica_names,
    stores,
)
from gateway.up.access import copy_accounts
from gateway.up.config import UpConfig
from gateway.up.errors import CannotStart

_TOPICS: Final = "topics.json"
_TABLE: Final = "topicConfigTable"
# In RocketMQ's own folder and form: what an operator has set on the first broker holds on all.
_COPIED: Final = (_TOPICS, "subscriptionGroup.json", "brokerSettings.json")


def require_none_left_out(config: UpConfig) -> None:
    """Raise CannotStart if a broker or replica with messages would not be started, unless the configuration allows it.

    The messages of a single broker are not given to replicas: its log has no epochs, by which they tell logs apart.
    """
    brokers, replicas = _left_out(config, broker_names(MOST_BROKERS)), _left_out(config, replica_names(MOST_REPLICAS))
    if not (names := [*brokers, *replicas]):
        return
    folder = folder_of(config.data, names[-1])
    if replicas:
        more = replicas[-1].rpartition("-")[2]
        reason = f"a replica that GANTRY_REPLICAS={config.replicas} would not start: set it to {more}"
    elif config.replicas > 1:
        reason = (
            f"a broker without replicas, which GANTRY_REPLICAS={config.replicas} would not start: start without that "
            "setting, choose another folder with GANTRY_DATA_DIR"
        )
    else:
        number = broker_names(MOST_BROKERS).index(names[-1]) + 1
        reason = f"a broker that GANTRY_BROKERS={config.brokers} would not start: set it to {number}"
    raise CannotStart(
        f"{folder} has messages of {reason}, or start without these messages by "
        f"GANTRY_BROKERS_LEFT_OUT={','.join(names)}"
    )


def _left_out(config: UpConfig, names: list[str]) -> list[str]:
    """Return those of the names that have messages, and are neither started nor allowed to be left out."""
    known = {*config.broker_ports, *config.left_out}
    return [name for name in names if name not in known and _has_messages(folder_of(config.data, name))]


def prepare_new(config: UpConfig) -> None:
    """Give each broker that never ran the topics, groups, settings and accounts of the first; raise CannotStart.

    Replicas have them from their master, and their accounts as `prepare_accounts` says.
    """
    if config.replicas > 1:
        return
    first, *others = stores(config.data, config.brokers).items()
    name, folder = first
    trees = dict(_read(folder / "config"))
    trees.get(_TOPICS, {}).get(_TABLE, {}).pop(name, None)  # the broker's own topic
    for _, other in others:
        if trees and not other.exists():
            _write(other, trees, folder / "config")


def _has_messages(store: Path) -> bool:
    """Return whether a segment of the log begins with a record."""
    for segment in sorted((store / "commitlog").glob("[0-9]*")):
        with segment.open("rb") as file:
            if any(file.read(4)):
                return True
    return False


def _read(config_folder: Path) -> Iterator[tuple[str, Any]]:
    for name in _COPIED:
        file = config_folder / name
        if file.exists():
            try:
                yield name, fastjson.loads(file.read_bytes())
            except MalformedBody as error:
                raise CannotStart(f"{file} cannot be read, and new brokers are to begin with it: {error}") from error


def _write(store: Path, trees: dict[str, Any], first: Path) -> None:
    # The folder appears with all of its files or not at all, since it says that the broker has run.
    draft = store.with_name(f"{store.name}.new")
    folder = draft / "config"
    folder.mkdir(parents=True, exist_ok=True)
    for name, tree in trees.items():
        with (folder / name).open("w", encoding="utf-8") as file:
            json.dump(tree, file)
            file.flush()
            os.fsync(file.fileno())
    copy_accounts(first, folder)
    draft.rename(store)
