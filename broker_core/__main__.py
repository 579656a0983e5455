"""``python -m broker_core``: name server and broker in one process; the only file that knows both."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import uvloop

from broker_core import logs
from broker_core.broker import Broker, BrokerConfig, Identity
from broker_core.errors import GantryError
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.remoting import AddressInUse
from broker_core.store import StoreConfig
from broker_core.store.errors import StoreLocked

EXIT_REFUSED: Final = 2
EXIT_STORE_LOCKED: Final = 71
EXIT_PORT_TAKEN: Final = 72

_YOUNG_OBJECTS: Final = 10_000
"""So many new objects make a round of the garbage collector, instead of 700: a batch of sends stays below it."""


def main() -> int:
    """Serve until a signal says otherwise; return the exit status."""
    arguments = _parse()
    logs.configure(arguments.log_level)
    try:
        return uvloop.run(_serve(arguments))
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
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="where everything is kept (%(default)s)")
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--namesrv-port", type=int, default=9876, help="0 for any free one (%(default)s)")
    parser.add_argument("--broker-port", type=int, default=10911, help="0 for any free one (%(default)s)")
    parser.add_argument("--advertise", metavar="HOST", help="address that clients are told (the bound one)")
    parser.add_argument("--broker-name", default="broker-a", help="(%(default)s)")
    parser.add_argument("--cluster", default="local", help="(%(default)s)")
    parser.add_argument(
        "--flush",
        choices=("async", "sync"),
        default="async",
        help="sync answers a send when the disk has it (%(default)s)",
    )
    parser.add_argument("--commit-log-file-size", type=int, metavar="BYTES", help="of a new store (128 MiB)")
    parser.add_argument("--log-level", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    return parser.parse_args()


async def _serve(arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    name_server = NameServer(
        NameServerConfig(
            host=arguments.bind,
            port=arguments.namesrv_port,
            settings_file=arguments.data_dir / "namesrv" / "kvConfig.json",
        )
    )
    await name_server.start()
    broker = Broker(_broker_config(arguments, name_server.port))
    try:
        await broker.start()
        _leave_alone_what_stays()
        print(f"ready namesrv={arguments.bind}:{name_server.port} broker={broker.address}", flush=True)
        return await _until_stopped(broker, stop)
    finally:
        await broker.close()
        await name_server.close()


def _leave_alone_what_stays() -> None:
    """Spare the garbage collector what was made until now and stays; rounds over it only hold up the loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


async def _until_stopped(broker: Broker, stop: asyncio.Event) -> int:
    """Wait for a signal; the broker's own end before that is a failure."""
    stopped = asyncio.ensure_future(stop.wait())
    failed = asyncio.ensure_future(broker.failed())
    await asyncio.wait((stopped, failed), return_when=asyncio.FIRST_COMPLETED)
    for waiting in (stopped, failed):
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    return 0 if stop.is_set() else EXIT_REFUSED


def _broker_config(arguments: argparse.Namespace, namesrv_port: int) -> BrokerConfig:
    store = StoreConfig.embedded(arguments.data_dir / "broker", flush=arguments.flush)
    if arguments.commit_log_file_size:
        store = replace(store, commit_log_file_size=arguments.commit_log_file_size)
    return BrokerConfig(
        store=store,
        name_servers=(f"{arguments.bind}:{namesrv_port}",),
        bind=arguments.bind,
        port=arguments.broker_port,
        advertise=arguments.advertise,
        identity=Identity(cluster=arguments.cluster, name=arguments.broker_name),
    )


if __name__ == "__main__":
    sys.exit(main())
