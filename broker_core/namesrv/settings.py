"""Key-value settings by namespace, in one JSON file that is rewritten after changes (namesrv/README.md#settings)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson

from broker_core.errors import GantryError
from broker_core.namesrv.limits import SettingLimits
from broker_core.namesrv.writing import Writer

ORDER_TOPIC_CONFIG: Final = "ORDER_TOPIC_CONFIG"
_TABLE: Final = "configTable"


class SettingsDamaged(GantryError):
    """Raised when the settings file exists but is not valid."""


class Settings:
    """Namespaces of texts. With a file, a change is on the disk when its call returns; others see it before."""

    def __init__(self, file: Path | None = None, limits: SettingLimits | None = None) -> None:
        """Read `file` if it exists, however much it holds; raises SettingsDamaged for any other content."""
        self._limits = limits or SettingLimits()
        self._namespaces: dict[str, dict[str, str]] = _read(file) if file is not None and file.exists() else {}
        self._count = sum(1 + len(texts) for texts in self._namespaces.values())
        self._bytes = sum(_size(space, *texts, *texts.values()) for space, texts in self._namespaces.items())
        self._writer = None if file is None else Writer(file, lambda: {_TABLE: self._namespaces})

    async def put(self, namespace: str, key: str, value: str) -> None:
        """Set a text; raises LimitReached, and OSError if it could not be written."""
        texts = self._namespaces.get(namespace)
        before = None if texts is None else texts.get(key)
        more = (texts is None) + (before is None)
        more_bytes = (
            (_size(namespace) if texts is None else 0)
            + (_size(key) if before is None else 0)
            + _size(value)
            - _size(before or "")
        )
        self._check(namespace, key, value, more=more, more_bytes=more_bytes)
        self._namespaces.setdefault(namespace, {})[key] = value
        self._count += more
        self._bytes += more_bytes
        await self._written()

    def find(self, namespace: str, key: str) -> str | None:
        """Return a text, or None if there is none."""
        return self._namespaces.get(namespace, {}).get(key)

    def find_namespace(self, namespace: str) -> dict[str, str] | None:
        """Return all texts of a namespace, or None if nothing was ever stored there."""
        found = self._namespaces.get(namespace)
        return None if found is None else dict(found)

    async def delete(self, namespace: str, key: str) -> None:
        """Delete a text; a missing one is not an error. Raises OSError if it could not be written."""
        value = self._namespaces.get(namespace, {}).pop(key, None)
        if value is not None:
            self._count -= 1
            self._bytes -= _size(key, value)
            await self._written()

    async def close(self) -> None:
        """Let what is being written end."""
        if self._writer is not None:
            await self._writer.close()

    def _check(self, namespace: str, key: str, value: str, *, more: int, more_bytes: int) -> None:
        limits, what = self._limits, f"setting {key[:80]!r} of namespace {namespace[:80]!r} was not saved"
        limits.check("setting_name_bytes", max(_size(namespace), _size(key)), what)
        limits.check("setting_value_bytes", _size(value), what)
        # What a file held at the start may exceed them: then a setting may still become smaller.
        if more > 0:
            limits.check("settings", self._count + more, what)
        if more_bytes > 0:
            limits.check("settings_bytes", self._bytes + more_bytes, what)

    async def _written(self) -> None:
        if self._writer is not None:
            await self._writer.written()


def _size(*texts: str) -> int:
    return sum(len(text.encode()) for text in texts)


def _read(file: Path) -> dict[str, dict[str, str]]:
    try:
        tree: Any = orjson.loads(file.read_bytes())[_TABLE]
        return {str(space): {str(key): str(value) for key, value in keys.items()} for space, keys in tree.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SettingsDamaged(f"{file} holds no settings: {error}") from error
