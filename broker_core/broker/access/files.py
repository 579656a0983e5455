"""The account files of a broker: ``plain_acl.yml`` and every ``.yml`` or ``.yaml`` below the folder ``acl`` beside it.

They are read again when one changes, appears or goes. One that cannot be read leaves all as they were, and its error is
logged once. A file is replaced as a whole, so whoever reads it sees the old or the new one; comments are lost.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from broker_core.broker.access.accounts import Account
from broker_core.broker.access.document import MAX_BYTES, AccessDocument, BadAccessText
from broker_core.broker.errors import AccountIllegal, BadConfigFile
from broker_core.protocol.addresses import AddressPattern, Parts
from broker_core.protocol.bodies.topics import DataVersion

FILE_NAME: Final = "plain_acl.yml"
FOLDER_NAME: Final = "acl"
_ENDINGS: Final = frozenset({".yml", ".yaml"})
_NOT_ACCOUNTS: Final = "tools.yml"
"""In this file `mqadmin` has its own account; Apache's brokers pass over it too."""

Stamp = tuple[tuple[Path, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class AccessTable:
    """The content of all files."""

    documents: Mapping[Path, AccessDocument] = field(default_factory=lambda: MappingProxyType({}))
    accounts: Mapping[str, Account] = field(default_factory=lambda: MappingProxyType({}))
    places: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    """The file of each account."""
    global_white: tuple[AddressPattern, ...] = ()

    def trusts(self, address: Parts | None) -> bool:
        """Return whether requests from an address need no account."""
        return any(each.matches(address) for each in self.global_white)

    @classmethod
    def of(cls, documents: Mapping[Path, AccessDocument]) -> Self:
        """Return the table of documents; raises BadConfigFile for an account that two files have."""
        accounts: dict[str, Account] = {}
        places: dict[str, Path] = {}
        patterns: list[AddressPattern] = []
        for path, document in documents.items():
            patterns.extend(map(AddressPattern.parse, document.global_white))
            for config in document.accounts:
                account = Account.of(config)
                if (other := places.get(account.access_key)) is not None:
                    raise BadConfigFile(f"{path}: the account {account.access_key} is in {other} too")
                accounts[account.access_key], places[account.access_key] = account, path
        return cls(documents, accounts, places, tuple(patterns))


class AccessFiles:
    """The files below one folder."""

    def __init__(self, folder: Path) -> None:
        self.main = folder / FILE_NAME
        self._more = folder / FOLDER_NAME

    def paths(self) -> list[Path]:
        """Return the files that are there, the main one first."""
        more = sorted(path for path in self._more.rglob("*") if path.suffix in _ENDINGS and path.name != _NOT_ACCOUNTS)
        return [path for path in (self.main, *more) if path.is_file()]

    def stamp(self) -> Stamp:
        """Return what differs when a file has changed."""
        found = []
        for path in self.paths():
            try:
                facts = path.stat()
            except FileNotFoundError:
                continue
            found.append((path, facts.st_mtime_ns, facts.st_size, facts.st_ino))
        return tuple(found)

    def read(self) -> AccessTable:
        """Return the content of all files; raises BadConfigFile."""
        return AccessTable.of({path: _read(path) for path in self.paths()})

    def write(self, path: Path, document: AccessDocument) -> None:
        """Replace a file; a new one can be read by its owner only.

        Raises AccountIllegal for a text that would be too large to be read again, and OSError; the old file stays.
        """
        data = document.dump()
        if len(data) > MAX_BYTES:
            raise AccountIllegal(f"{path} would have {len(data):,} bytes, more than the limit of {MAX_BYTES:,}")
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + ".tmp")
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)


def next_version(version: DataVersion, now: int) -> DataVersion:
    """Return the version after a change."""
    return DataVersion(version.counter + 1, now)


def _read(path: Path) -> AccessDocument:
    try:
        return AccessDocument.parse(path.read_bytes())
    except (BadAccessText, OSError) as error:
        raise BadConfigFile(f"{path}: {error}") from error
