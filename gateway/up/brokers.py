"""What `make up` does before it starts several brokers: none with messages is left out, a new one knows the topics."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

from broker_core.protocol import fastjson
from broker_core.protocol.errors import MalformedBody
from console.clusters.own_brokers import MOST_BROKERS, broker_names, folder_of, stores
from gateway.up.config import UpConfig
from gateway.up.errors import CannotStart

_TOPICS: Final = "topics.json"
_TABLE: Final = "topicConfigTable"
# In RocketMQ's own folder and form: what an operator has set on the first broker holds on all.
_COPIED: Final = (_TOPICS, "subscriptionGroup.json", "brokerSettings.json")


def require_none_left_out(config: UpConfig) -> None:
    """Raise CannotStart if a broker with messages would not be started, unless the configuration lets it be."""
    left_out = [
        (number, folder_of(config.data, name))
        for number, name in enumerate(broker_names(MOST_BROKERS), 1)
        if number > config.brokers and name not in config.left_out and _has_messages(folder_of(config.data, name))
    ]
    if left_out:
        number, folder = left_out[-1]
        names = ",".join(path.name for _, path in left_out)
        raise CannotStart(
            f"{folder} has messages of a broker that GANTRY_BROKERS={config.brokers} would not start: set it to "
            f"{number}, or start without these messages by GANTRY_BROKERS_LEFT_OUT={names}"
        )


def prepare_new(config: UpConfig) -> None:
    """Give each broker that never ran the topics, groups, settings and accounts of the first; raise CannotStart."""
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
    for accounts in (first / "plain_acl.yml", *first.glob("acl/*.yml")):
        if accounts.exists():
            copy = folder / accounts.relative_to(first)
            copy.parent.mkdir(exist_ok=True)
            copyfile(accounts, copy)
    draft.rename(store)
