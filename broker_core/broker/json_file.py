"""One configuration file: written beside, synced, renamed, with the one before it kept (store/README.md#config-files).

Nobody else in the broker touches configuration files. The text is ordinary JSON, which fastjson reads; what fastjson
writes (integers as bare keys) is read here too, so a store may have been Apache RocketMQ's before.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from broker_core.broker.errors import BadConfigFile
from broker_core.logs import get_logger
from broker_core.protocol import fastjson
from broker_core.protocol.errors import MalformedBody

_log = get_logger(__name__)


class JsonFile:
    """A file `F` with its backup `F.bak`; `F.tmp` is never read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_name(path.name + ".bak")

    def __str__(self) -> str:
        return str(self._path)

    def load(self) -> Any:
        """Return the tree of the file, of its backup when the file is missing, empty or unreadable, or None.

        Raises BadConfigFile when only an unreadable backup is left.
        """
        tree = self._read_own()
        if tree is not None:
            return tree
        text = _read(self._backup)
        if not text.strip():
            return None
        try:
            tree = fastjson.loads(text)
        except MalformedBody as error:
            raise BadConfigFile(f"neither {self._path} nor its backup can be read: {error}") from error
        _log.warning("file=%s: missing or unreadable, its backup is used", self._path)
        return tree

    def save(self, text: bytes) -> None:
        """Replace the file; a whole file or backup is there at every moment. Raises OSError, and the old one stays."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(self._path.name + ".tmp")
        with beside.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if self._path.exists():
            self._path.replace(self._backup)
        beside.replace(self._path)

    def _read_own(self) -> Any:
        text = _read(self._path)
        if not text.strip():
            return None
        try:
            return fastjson.loads(text)
        except MalformedBody as error:
            _log.log(logging.ERROR, "file=%s: cannot be read: %s", self._path, error)
            return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
