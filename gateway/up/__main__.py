"""``python -m gateway.up``: start everything, keep it running, stop it on Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from gateway.env import BadSetting
from gateway.private import UMASK, make_private
from gateway.up.banner import banner
from gateway.up.brokers import prepare_new, require_none_left_out
from gateway.up.checks import locked, require_distinct, require_free
from gateway.up.config import PORTS_APART, UpConfig
from gateway.up.console_log import ConsoleLog
from gateway.up.errors import CannotStart, NoRight
from gateway.up.first_run import TOPIC, Admin, ensure_topic, prepare, record_classes
from gateway.up.processes import Plan, plan
from gateway.up.replicas import HA_PORT_ABOVE, known_of, master_of
from gateway.up.supervisor import Supervisor, by_kind

# RocketMQ's clients may connect to the broker's port minus 2, so the broker listens there too.
_FAST_PORT_BELOW = 2


def main() -> int:
    """Run until a signal; return the exit status: 0 after a signal, 2 if something must be fixed before the start."""
    parser = argparse.ArgumentParser(
        prog="python -m gateway.up",
        description="Start everything, keep it running, stop it on Ctrl-C.",
        epilog="Settings come from the environment; `make help` lists them.",
    )
    parser.parse_args()
    os.umask(UMASK)  # inherited by the children
    try:
        config = UpConfig.read()
        with locked(config.data):
            _make_private(config)
            # Reads the settings that only children use: what is wrong with one is said before any of them starts.
            import_module("gateway.settings")
            _require_ports(config)
            require_none_left_out(config)
            prepare_new(config)
            asyncio.run(_run(config, ConsoleLog()))
    except (CannotStart, BadSetting) as error:
        sys.stderr.write(f"gantry: {error}\n")
        return 2
    return 0


def _make_private(config: UpConfig) -> None:
    try:
        make_private(config.data)
    except PermissionError as error:
        raise NoRight(f"change the mode of {error.filename}", "change its owner, or set GANTRY_DATA_DIR") from error


def _require_ports(config: UpConfig) -> None:
    require_distinct(
        {
            "GANTRY_NAMESRV_PORT": config.namesrv_port,
            **dict(_ports_of_brokers(config)),
            "GANTRY_HTTP_PORT": config.http_port,
        }
    )
    require_free(config.bind, config.namesrv_port, "GANTRY_NAMESRV_PORT")
    for port in config.broker_ports.values():
        require_free(config.bind, port, "GANTRY_BROKER_PORT")
        if config.replicas > 1:  # a broker without replicas does without
            require_free(config.bind, port + HA_PORT_ABOVE, "GANTRY_BROKER_PORT")
    require_free(config.bind, config.http_port, "GANTRY_HTTP_PORT")


def _ports_of_brokers(config: UpConfig) -> Iterator[tuple[str, int]]:
    for number, port in enumerate(config.broker_ports.values()):
        more = f" plus {number * PORTS_APART}" if number else ""
        yield f"GANTRY_BROKER_PORT{more}", port
        yield f"a broker's second port, GANTRY_BROKER_PORT{more} minus {_FAST_PORT_BELOW}", port - _FAST_PORT_BELOW
        if config.replicas > 1:
            yield (
                f"a replica's port for slaves, GANTRY_BROKER_PORT plus {number * PORTS_APART + HA_PORT_ABOVE}",
                (port + HA_PORT_ABOVE),
            )


async def _run(config: UpConfig, log: ConsoleLog) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    with tempfile.TemporaryDirectory(prefix="gantry-") as run:
        await _run_children(config, plan(config, Path(run)), stop, log)


async def _run_children(config: UpConfig, startup_plan: Plan, stop: asyncio.Event, log: ConsoleLog) -> None:
    supervisor = Supervisor(startup_plan, config, log)
    log.line("gantry", f"data in {config.data}")
    try:
        starting = asyncio.create_task(_start_all(startup_plan.environment, config, supervisor, log), name="start all")
        stopping = asyncio.create_task(stop.wait(), name="wait for a signal")
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            log.plain(banner(config, starting.result(), await known_of(config)))
            recording = asyncio.create_task(_record(startup_plan.environment, log), name="record Spark's classes")
            await stopping
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)
        else:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        log.line("gantry", "stopping")
    finally:
        # Without its slaves a master takes no messages, but without its master nobody needs to be elected.
        await supervisor.stop(lambda: master_of(config))
    log.line("gantry", "stopped")


async def _record(environment: dict[str, str], log: ConsoleLog) -> None:
    failure = await record_classes(environment)
    if failure is not None:
        log.line("gantry", failure)


async def _start_all(environment: dict[str, str], config: UpConfig, supervisor: Supervisor, log: ConsoleLog) -> Admin:
    # Migrating the database needs neither Redis nor broker, so both start meanwhile.
    preparing = asyncio.create_task(asyncio.to_thread(prepare, config, environment), name="prepare the database")
    first, rest = supervisor.split_by_database()
    for together in by_kind(first):
        await asyncio.gather(*(supervisor.start(child) for child in together))
    admin = await preparing
    await asyncio.gather(*(supervisor.start(child) for child in rest))
    await supervisor.wait_until_ready()
    # The owner may have deleted the token or the topic: that must not stop the start.
    failure = await asyncio.to_thread(ensure_topic, config)
    if failure is not None:
        log.line("gantry", f"topic {TOPIC} could not be created: {failure}")
    return admin


if __name__ == "__main__":
    sys.exit(main())
