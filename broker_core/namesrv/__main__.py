"""``python -m broker_core.namesrv``: a name server in its own process."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

import uvloop

from broker_core import logs
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.namesrv.settings import SettingsDamaged
from broker_core.remoting import RemotingError


def main() -> int:
    """Serve until a signal; return the exit status: 0 stopped as requested, 2 it could not start."""
    parser = argparse.ArgumentParser(prog="python -m broker_core.namesrv", description="A RocketMQ name server.")
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on [%(default)s]")
    parser.add_argument("--port", type=int, default=9876, help="0: any free port [%(default)s]")
    parser.add_argument("--settings-file", type=Path, help="file for key-value settings [memory only]")
    parser.add_argument("--log-level", default="INFO")
    options = parser.parse_args()
    logs.configure(options.log_level)
    config = NameServerConfig(host=options.bind, port=options.port, settings_file=options.settings_file)
    try:
        uvloop.run(_serve(config))
    except (RemotingError, SettingsDamaged) as error:
        sys.stderr.write(f"name server: {error}\n")
        return 2
    return 0


async def _serve(config: NameServerConfig) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = NameServer(config)
    await server.start()
    print(f"ready namesrv={config.host}:{server.port}", flush=True)
    try:
        await stop.wait()
    finally:
        await server.close()


if __name__ == "__main__":
    sys.exit(main())
