"""``python -m broker_core``: a broker, and a name server in the same process unless one is named."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import uvloop

from broker_core import exit_status, logs
from broker_core.broker import Broker, BrokerConfig
from broker_core.broker.replication.anew import put_aside
from broker_core.broker.room import open_with_room
from broker_core.command_line import configuration, of_controller, parse
from broker_core.controller.server import Controller, hosted
from broker_core.defaults import settings_file
from broker_core.errors import GantryError
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.native import native, why_not
from broker_core.remoting import AddressInUse
from broker_core.remoting.open_files import Sockets, check_files, raise_limit
from broker_core.remoting.own_address import join, reached_host
from broker_core.store.errors import StoreFull, StoreLocked

_OWNER_ONLY: Final = 0o077
"""The umask, whatever the process inherited: only this user may read the messages."""

_log: Final = logs.get_logger(__name__)

_COLLECTION_THRESHOLD: Final = 10_000
"""How many new objects start a garbage collection, instead of 700: more than a batch of sends makes."""


def main() -> int:
    """Serve until a signal says otherwise; return the exit status."""
    options = parse()
    os.umask(_OWNER_ONLY)
    logs.configure(options.log_level)
    if native is None:
        _log.info("running without the compiled functions, which is slower: %s", why_not)
    config: BrokerConfig | None = None
    try:
        config = configuration(options)
        files = raise_limit()
        check_files(files)
        return uvloop.run(_serve(options, config, Sockets(files)))
    except StoreLocked as error:
        return _give_up(error, exit_status.STORE_LOCKED)
    except AddressInUse as error:
        return _give_up(error, exit_status.PORT_TAKEN)
    except StoreFull as error:
        return _give_up(f"{error} ({error.__cause__})", exit_status.SYSTEM)
    except GantryError as error:
        return _give_up(error, exit_status.REFUSED)
    except OSError as error:
        return _give_up(_told(error, config), exit_status.SYSTEM)


def _give_up(error: object, status: int) -> int:
    print(f"broker_core: {error}", file=sys.stderr)
    return status


def _told(error: OSError, config: BrokerConfig | None) -> str:
    """Return what the system refused, with the setting that names the place."""
    if error.filename is None or config is None:
        return str(error)
    place = Path(os.fsdecode(error.filename))
    # A folder that cannot be made is told by its parent, too.
    is_store = config.store.folder in (place, *place.parents) or place in config.store.folder.parents
    return f"{'storePathRootDir: ' if is_store else ''}{place}: {error.strerror}"


async def _serve(options: argparse.Namespace, config: BrokerConfig, sockets: Sockets) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as running:
        is_registered, name = asyncio.Event(), config.identity.name
        controller = await running.enter_async_context(
            hosted(of_controller(options, config), join(reached_host(config.bind), options.namesrv_port))
        )
        if not config.name_servers:
            name_server = _name_server(options, config, sockets, is_registered, controller)
            await name_server.start()
            running.push_async_callback(name_server.close)
            if controller is not None:
                await controller.start()
            config = replace(config, name_servers=(f"{config.bind}:{name_server.port}",))
        while (opened := await open_with_room(partial(Broker.open, config, sockets=sockets), name, stop)) is not None:
            async with _closing(opened, is_registered) as broker:
                is_registered.set()
                _exempt_from_collection()
                print(f"ready namesrv={';'.join(config.name_servers)} broker={broker.address}", flush=True)
                status = await _until_stopped(broker, stop)
            if status is not None:
                return status
            put_aside(config.store.folder, datetime.now(UTC))
        return 0


@contextlib.asynccontextmanager
async def _closing(broker: Broker, is_registered: asyncio.Event) -> AsyncIterator[Broker]:
    try:
        yield broker
    finally:
        # While the broker leaves, its topics are no more unknown than before it came.
        is_registered.clear()
        await broker.close()


def _name_server(
    options: argparse.Namespace,
    config: BrokerConfig,
    sockets: Sockets,
    is_registered: asyncio.Event,
    controller: Controller | None,
) -> NameServer:
    settings = settings_file(options)
    if options.config:
        _log.info("key-value settings of the name server in %s", settings.absolute())
    return NameServer(
        NameServerConfig(
            host=config.bind,
            tls=config.tls,
            port=options.namesrv_port,
            settings_file=settings,
            change_networks=options.change_networks,
        ),
        sockets=sockets,
        ready=is_registered,
        guests=controller.table() if controller else {},
    )


def _exempt_from_collection() -> None:
    """Exempt what exists now from garbage collection: it stays, and scanning it delays the loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD)


async def _until_stopped(broker: Broker, stop: asyncio.Event) -> int | None:
    """Wait for a signal, or for the broker to stop by itself, which is a failure; return None if it begins anew."""
    stopped = asyncio.ensure_future(stop.wait())
    failed = asyncio.ensure_future(broker.failed())
    await asyncio.wait((stopped, failed), return_when=asyncio.FIRST_COMPLETED)
    for waiting in (stopped, failed):
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    if stop.is_set():
        return 0
    return None if broker.begins_anew else exit_status.REFUSED


if __name__ == "__main__":
    sys.exit(main())
