"""``python -m broker_core.namesrv``: a name server in its own process."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path
from typing import Final

import uvloop

from broker_core import exit_status, logs
from broker_core.controller.config import ControllerConfig
from broker_core.controller.server import hosted
from broker_core.errors import GantryError
from broker_core.namesrv.changes import networks_option
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.config_file import OF_CONTROLLER, USUAL_SETTINGS, ConfigFile, read_config
from broker_core.namesrv.server import NameServer
from broker_core.remoting import AddressInUse
from broker_core.remoting.own_address import join, reached_host
from broker_core.remoting.tls_settings import read_settings

_log: Final = logging.getLogger(__name__)


def main() -> int:
    """Serve until a signal; return 0 if stopped as requested, or else one of `exit_status`."""
    parser = argparse.ArgumentParser(prog="python -m broker_core.namesrv", description="A RocketMQ name server.")
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        metavar="FILE",
        help="RocketMQ's properties file; other options go before what it says",
    )
    parser.add_argument("--bind", help="address to listen on [127.0.0.1]")
    parser.add_argument("--port", type=int, help="0: any free port [9876]")
    parser.add_argument(
        "--settings-file",
        type=Path,
        help=f"file for key-value settings [with --config what it says, or {USUAL_SETTINGS}; else memory only]",
    )
    parser.add_argument(
        "--change-networks",
        type=networks_option,
        metavar="NETWORKS",
        help="take changes from this machine and these networks only, with commas between them; may be empty [any]",
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="a setting of a controller in this process; goes before what --config says (repeatable)",
    )
    parser.add_argument("--tls-config", type=Path, metavar="FILE", help="RocketMQ's tls.properties")
    parser.add_argument("--log-level", default="INFO")
    options = parser.parse_args()
    logs.configure(options.log_level)
    try:
        file = read_config(options.config) if options.config else ConfigFile({}, ())
        controller = ControllerConfig.of(dict(file.controller) | dict(options.setting))
        uvloop.run(_serve(_config(options, file), controller))
    except AddressInUse as error:
        return _give_up(error, exit_status.PORT_TAKEN)
    except GantryError as error:
        return _give_up(error, exit_status.REFUSED)
    except OSError as error:
        return _give_up(error, exit_status.SYSTEM)
    return 0


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or name.strip() not in OF_CONTROLLER:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE of a controller's setting")
    return name.strip(), value


def _give_up(error: Exception, status: int) -> int:
    sys.stderr.write(f"name server: {error}\n")
    return status


def _config(options: argparse.Namespace, file: ConfigFile) -> NameServerConfig:
    if file.without_effect:
        _log.info("%s: without effect here: %s", options.config, ", ".join(file.without_effect))
    tls = read_settings(options.tls_config, below=file.fields.get("tls", {}), above={})
    given = {
        "host": options.bind,
        "port": options.port,
        "settings_file": options.settings_file,
        "change_networks": options.change_networks,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    return NameServerConfig(**file.fields | {"tls": tls} | chosen)


async def _serve(config: NameServerConfig, of_controller: ControllerConfig | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with hosted(of_controller, join(reached_host(config.host), config.port)) as controller:
        server = NameServer(config, guests=controller.table() if controller else {})
        await server.start()
        try:
            if controller is not None:
                await controller.start()
            _log.info("key-value settings in %s", config.settings_file or "memory only")
            print(f"ready namesrv={config.host}:{server.port}", flush=True)
            await stop.wait()
        finally:
            await server.close()


if __name__ == "__main__":
    sys.exit(main())
