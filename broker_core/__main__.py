"""``python -m broker_core``: name server and broker in one process; the only file that imports both."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Final

import uvloop

from broker_core import logs
from broker_core.broker import Broker, BrokerConfig, Identity
from broker_core.errors import GantryError
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.native import native, why_not
from broker_core.remoting import AddressInUse
from broker_core.remoting.open_files import Sockets, check_files, raise_limit
from broker_core.store import StoreConfig
from broker_core.store.errors import StoreLocked

EXIT_REFUSED: Final = 2
EXIT_STORE_LOCKED: Final = 71
EXIT_PORT_TAKEN: Final = 72

_OWNER_ONLY: Final = 0o077
"""The umask, whatever the process inherited: only this user may read the messages."""

_FLUSHES: Final = {"async": "ASYNC_FLUSH", "sync": "SYNC_FLUSH"}

_log: Final = logs.get_logger(__name__)

_COLLECTION_THRESHOLD: Final = 10_000
"""How many new objects start a garbage collection, instead of 700: more than a batch of sends makes."""


def main() -> int:
    """Serve until a signal says otherwise; return the exit status."""
    arguments = _parse()
    os.umask(_OWNER_ONLY)
    logs.configure(arguments.log_level)
    if native is None:
        _log.info("running without the compiled functions, which is slower: %s", why_not)
    try:
        files = raise_limit()
        check_files(files)
        return uvloop.run(_serve(arguments, Sockets(files)))
    except StoreLocked as error:
        return _give_up(error, EXIT_STORE_LOCKED)
    except AddressInUse as error:
        return _give_up(error, EXIT_PORT_TAKEN)
    except (GantryError, OSError) as error:
        return _give_up(error, EXIT_REFUSED)


def _give_up(error: Exception, status: int) -> int:
    print(f"broker_core: {error}", file=sys.stderr)
    return status


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m broker_core", description="A RocketMQ name server and broker.")
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="folder for all data (%(default)s)")
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--namesrv-port", type=int, default=9876, help="0: any free port (%(default)s)")
    parser.add_argument(
        "--namesrv",
        metavar="HOST:PORT[;HOST:PORT]",
        help="register with these name servers instead of starting one",
    )
    parser.add_argument("--broker-port", type=int, default=10911, help="0: any free port (%(default)s)")
    parser.add_argument("--advertise", metavar="HOST", help="address that clients connect to (the --bind address)")
    parser.add_argument("--broker-name", default="broker-a", help="(%(default)s)")
    parser.add_argument("--cluster", default="local", help="(%(default)s)")
    parser.add_argument(
        "--flush", choices=_FLUSHES, help="sync: answer a send once it is on disk (async); setting flushDiskType"
    )
    parser.add_argument(
        "--commit-log-file-size", metavar="BYTES", help="for a new store (128 MiB); setting mappedFileSizeCommitLog"
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="a broker setting by its RocketMQ name; overrides changes made with mqadmin (repeatable)",
    )
    parser.add_argument("--log-level", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    return parser.parse_args()


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value


async def _serve(arguments: argparse.Namespace, sockets: Sockets) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as running:
        name_servers = tuple(arguments.namesrv.split(";")) if arguments.namesrv else ()
        is_registered = asyncio.Event()
        if not name_servers:
            name_server = _name_server(arguments, sockets, is_registered)
            await name_server.start()
            running.push_async_callback(name_server.close)
            name_servers = (f"{arguments.bind}:{name_server.port}",)
        broker = await Broker.open(_broker_config(arguments, name_servers), sockets=sockets)
        running.push_async_callback(broker.close)
        # While the broker leaves, its topics are no more unknown than before it came.
        running.callback(is_registered.clear)
        is_registered.set()
        _exempt_from_collection()
        print(f"ready namesrv={';'.join(name_servers)} broker={broker.address}", flush=True)
        return await _until_stopped(broker, stop)


def _name_server(arguments: argparse.Namespace, sockets: Sockets, is_registered: asyncio.Event) -> NameServer:
    return NameServer(
        NameServerConfig(
            host=arguments.bind,
            port=arguments.namesrv_port,
            settings_file=arguments.data_dir / "namesrv" / "kvConfig.json",
        ),
        sockets=sockets,
        ready=is_registered,
    )


def _exempt_from_collection() -> None:
    """Exempt what exists now from garbage collection: it stays, and scanning it delays the loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD)


async def _until_stopped(broker: Broker, stop: asyncio.Event) -> int:
    """Wait for a signal, or for the broker to stop by itself, which is a failure."""
    stopped = asyncio.ensure_future(stop.wait())
    failed = asyncio.ensure_future(broker.failed())
    await asyncio.wait((stopped, failed), return_when=asyncio.FIRST_COMPLETED)
    for waiting in (stopped, failed):
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    return 0 if stop.is_set() else EXIT_REFUSED


def _broker_config(arguments: argparse.Namespace, name_servers: tuple[str, ...]) -> BrokerConfig:
    settings = dict(arguments.setting)
    if arguments.flush:
        settings.setdefault("flushDiskType", _FLUSHES[arguments.flush])
    if arguments.commit_log_file_size:
        settings.setdefault("mappedFileSizeCommitLog", arguments.commit_log_file_size)
    return BrokerConfig(
        store=StoreConfig.embedded(arguments.data_dir / "broker"),
        settings=settings,
        name_servers=name_servers,
        bind=arguments.bind,
        port=arguments.broker_port,
        advertise=arguments.advertise,
        identity=Identity(cluster=arguments.cluster, name=arguments.broker_name),
    )


if __name__ == "__main__":
    sys.exit(main())
