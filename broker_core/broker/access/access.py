"""The accounts in use: read from the files, read again when they change, changed by administration."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from broker_core.broker.access.accounts import Account
from broker_core.broker.access.document import AccessDocument
from broker_core.broker.access.files import AccessFiles, AccessTable, Stamp, next_version
from broker_core.broker.access.revoking import Changed
from broker_core.broker.errors import AccountIllegal, AccountUnknown, BadConfigFile
from broker_core.file_modes import open_to_others
from broker_core.logs import get_logger
from broker_core.protocol.addresses import AddressPattern
from broker_core.protocol.bodies.access import PlainAccessConfig

_log: Final = get_logger(__name__)
_LOOKS: Final = 5
_BETWEEN_LOOKS: Final = 1.0  # seconds
_MOST_RIGHTS: Final = 2_000
"""The limit on listed rights of an account that is changed by request: writing and reading them takes four seconds."""

_NAMED: Final = 10  # accounts, in one line of the log

_MAY_STAY: Final = (
    "secret_key",
    "white_remote_address",
    "default_topic_perm",
    "default_group_perm",
    "topic_perms",
    "group_perms",
)


class Access:
    """The accounts of a broker; `executor` waits for the disk."""

    def __init__(
        self,
        files: AccessFiles,
        executor: Executor,
        clock: Callable[[], int],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`pause` waits between two looks at files that somebody is writing."""
        self.table = AccessTable()
        self.on_change: Changed = _do_nothing
        self._files = files
        self._executor = executor
        self._clock = clock
        self._pause = pause
        self._stamp: Stamp = ()  # of the files in use
        self._seen: Stamp = ()  # at the last look
        self._turn = asyncio.Lock()

    @property
    def main_file(self) -> Path:
        """The file that gets new accounts."""
        return self._files.main

    def load(self) -> None:
        """Read the files at the start; raises BadConfigFile."""
        self._stamp = self._files.stamp()
        self.table = self._files.read()
        self._warn()

    async def reload(self, _now: int) -> None:
        """Read the files again if they changed and are complete; broken ones leave the accounts as they were.

        The beginning of a file may be sound and give rights that its end refuses, so a change counts when two looks
        have found the same.
        """
        async with self._turn:
            await self._run(self._reload)

    def _reload(self) -> None:
        stamp, before = self._files.stamp(), self._seen
        self._seen = stamp
        if stamp == self._stamp or stamp != before:
            return
        self._stamp, known = stamp, self.table.accounts
        try:
            self.table = self._files.read()
        except BadConfigFile as error:
            _log.error("access: the changed files are not used, the accounts stay as they were: %s", error)
            return
        _log.info("access: read %d accounts from %d files", len(self.table.accounts), len(self.table.documents))
        if gone := sorted(known.keys() - self.table.accounts.keys()):
            more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
            _log.warning("access: no longer there: %s%s; what they sign is refused", ", ".join(gone[:_NAMED]), more)
        self._warn()

    def _warn(self) -> None:
        """Say what of the files in use is hardly what the operator wants."""
        if not self.table.accounts and not self.table.global_white:
            _log.warning("access: there are no accounts in %s, so every request is refused", self._files.main)
        if exposed := open_to_others(self.table.documents):
            _log.warning(
                "access: every user of this machine can read the secrets in %s: chmod 600", ", ".join(map(str, exposed))
            )

    # -- administration

    async def put_account(self, config: PlainAccessConfig) -> None:
        """Create an account in the main file, or change it where it is; what `config` leaves out stays, the secret too.

        Raises AccountIllegal, BadConfigFile for files that were broken in the meantime, and OSError.
        """

        def change(table: AccessTable) -> tuple[Path, AccessDocument]:
            path = table.places.get(config.access_key or "", self.main_file)
            document = table.documents.get(path, AccessDocument())
            kept = [each for each in document.accounts if each.access_key != config.access_key]
            old = next((each for each in document.accounts if each.access_key == config.access_key), None)
            wanted = config if old is None else _merged(old, config)
            try:
                Account.of(wanted)
            except ValueError as error:
                raise AccountIllegal(str(error)) from error
            _check_number_of_rights(wanted)
            return path, replace(document, accounts=(*kept, wanted))

        await self._change(change)

    async def delete_account(self, access_key: str) -> None:
        """Delete an account; raises AccountUnknown, BadConfigFile and OSError."""

        def change(table: AccessTable) -> tuple[Path, AccessDocument]:
            path = table.places.get(access_key)
            if path is None:
                raise AccountUnknown(access_key)
            document = table.documents[path]
            kept = tuple(each for each in document.accounts if each.access_key != access_key)
            return path, replace(document, accounts=kept)

        await self._change(change)

    async def put_global_white(self, addresses: Sequence[str], path: Path | None) -> None:
        """Replace the addresses that need no signature, of a file that is there; without `path` those of the main one.

        Raises AccountIllegal, BadConfigFile and OSError.
        """
        try:
            for each in addresses:
                AddressPattern.parse(each)
        except ValueError as error:
            raise AccountIllegal(str(error)) from error

        def change(table: AccessTable) -> tuple[Path, AccessDocument]:
            wanted = path or self.main_file
            if wanted not in table.documents:
                raise AccountIllegal(f"{wanted} is not an account file of this broker")
            return wanted, replace(table.documents[wanted], global_white=tuple(addresses))

        await self._change(change)

    async def _change(self, change: Callable[[AccessTable], tuple[Path, AccessDocument]]) -> None:
        async with self._turn:
            await self._settle()
            await self._run(partial(self._apply, change))

    async def _run(self, work: Callable[[], None]) -> None:
        """Run what may change the accounts, in the thread that waits for the disk, then tell of the change."""
        before, loop = self.table, asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._executor, work)
        finally:
            if self.table is not before:
                # Two turns later, so that who took rights from itself still gets its answer.
                loop.call_soon(loop.call_soon, self.on_change, before, self.table)

    async def _settle(self) -> None:
        """Wait until nobody writes the files; raises BadConfigFile if somebody goes on."""
        loop = asyncio.get_running_loop()
        stamp = await loop.run_in_executor(self._executor, self._files.stamp)
        for _ in range(_LOOKS):
            if stamp == self._stamp:
                return
            await self._pause(_BETWEEN_LOOKS)
            before, stamp = stamp, await loop.run_in_executor(self._executor, self._files.stamp)
            if stamp == before:
                return
        raise BadConfigFile(f"the account files beside {self._files.main} are being written, try again")

    def _apply(self, change: Callable[[AccessTable], tuple[Path, AccessDocument]]) -> None:
        # What is on the disk now is changed, so that what an editor wrote a moment ago is not lost.
        path, document = change(self._files.read())
        self._files.write(path, replace(document, version=next_version(document.version, self._clock())))
        self._stamp = self._files.stamp()
        self.table = self._files.read()


def _do_nothing(_old: AccessTable, _new: AccessTable) -> None:
    return None


def _check_number_of_rights(config: PlainAccessConfig) -> None:
    rights = len(config.topic_perms or ()) + len(config.group_perms or ())
    if rights > _MOST_RIGHTS:
        raise AccountIllegal(
            f"the account {config.access_key} lists {rights} rights, more than the limit of {_MOST_RIGHTS}; give it a "
            "defaultTopicPerm or defaultGroupPerm, and list what differs"
        )


def _merged(old: PlainAccessConfig, new: PlainAccessConfig) -> PlainAccessConfig:
    """Return an account after a change: the name and the switch are always given, the rest may be left out."""
    left_out = {name: getattr(old, name) for name in _MAY_STAY if getattr(new, name) is None}
    return replace(new, **left_out)
