"""Key-value settings by namespace, in one JSON file that is rewritten at each change (namesrv/README.md#settings)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import orjson

from broker_core.errors import GantryError

ORDER_TOPIC_CONFIG: Final = "ORDER_TOPIC_CONFIG"
_TABLE: Final = "configTable"


class SettingsDamaged(GantryError):
    """Raised when the settings file exists but is not valid."""


class Settings:
    """Namespaces of texts. With a file, every change is on disk when the call returns."""

    def __init__(self, file: Path | None = None) -> None:
        """Read `file` if it exists; raises SettingsDamaged for any other content."""
        self._file = file
        self._namespaces: dict[str, dict[str, str]] = _read(file) if file is not None and file.exists() else {}

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a text."""
        self._namespaces.setdefault(namespace, {})[key] = value
        self._write()

    def find(self, namespace: str, key: str) -> str | None:
        """Return a text, or None if there is none."""
        return self._namespaces.get(namespace, {}).get(key)

    def find_namespace(self, namespace: str) -> dict[str, str] | None:
        """Return all texts of a namespace, or None if nothing was ever stored there."""
        found = self._namespaces.get(namespace)
        return None if found is None else dict(found)

    def delete(self, namespace: str, key: str) -> None:
        """Delete a text; a missing one is not an error."""
        if self._namespaces.get(namespace, {}).pop(key, None) is not None:
            self._write()

    def _write(self) -> None:
        if self._file is not None:
            write_tree(self._file, {_TABLE: self._namespaces})


def write_tree(file: Path, tree: object) -> None:
    """Replace a file with a tree as JSON; the old file stays until the new one is on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(file.name + ".tmp")
    with draft.open("wb") as opened:
        opened.write(orjson.dumps(tree, option=orjson.OPT_INDENT_2))
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)


def _read(file: Path) -> dict[str, dict[str, str]]:
    try:
        tree: Any = orjson.loads(file.read_bytes())[_TABLE]
        return {str(space): {str(key): str(value) for key, value in keys.items()} for space, keys in tree.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SettingsDamaged(f"{file} holds no settings: {error}") from error
