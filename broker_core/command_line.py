"""The options of ``python -m broker_core``, and what they and a configuration file make of a broker."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Final

from broker_core import defaults
from broker_core.broker import BrokerConfig
from broker_core.broker.config import BrokerRole
from broker_core.broker.settings.file import BROKER_ID, ConfigFile, name_servers, read_config
from broker_core.controller.config import CLUSTER, ENABLE, STORE, ControllerConfig, ControllerRefused
from broker_core.logs import get_logger
from broker_core.namesrv.changes import networks_option
from broker_core.namesrv.config_file import OF_CONTROLLER
from broker_core.remoting.tls_settings import PREFIX as TLS_PREFIX
from broker_core.remoting.tls_settings import read_settings
from broker_core.store import StoreConfig

_FLUSHES: Final = {"async": "ASYNC_FLUSH", "sync": "SYNC_FLUSH"}
_ROLES: Final = {role.lower().replace("_", "-"): str(role) for role in BrokerRole}

_MOST_SHARES: Final = 64  # then each has the memory of one frame

_log: Final = get_logger(__name__)


def parse() -> argparse.Namespace:
    """Return the options of this process; ends it with a text if they are wrong."""
    parser = argparse.ArgumentParser(prog="python -m broker_core", description="A RocketMQ name server and broker.")
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        metavar="FILE",
        help="RocketMQ's properties file; other options go before what it says",
    )
    parser.add_argument("--data-dir", type=Path, help="folder for all data (data; with --config the home folder)")
    parser.add_argument(
        "--store",
        type=Path,
        metavar="FOLDER",
        help="folder of the messages (broker in --data-dir; with --config what it says, or store in the home folder)",
    )
    parser.add_argument(
        "--share",
        type=_share,
        default=1,
        metavar="N",
        help="so many brokers share the memory of this machine (%(default)s)",
    )
    parser.add_argument("--bind", help="address to listen on (127.0.0.1)")
    parser.add_argument("--namesrv-port", type=int, default=9876, help="0: any free port (%(default)s)")
    parser.add_argument(
        "-n",
        "--namesrv",
        type=_name_servers,
        metavar="HOST:PORT[;HOST:PORT]",
        help="register with these name servers instead of starting one",
    )
    parser.add_argument(
        "--change-networks",
        type=networks_option,
        metavar="NETWORKS",
        help="the name server that is started takes changes from this machine and these networks only (any)",
    )
    parser.add_argument("--broker-port", type=int, help="0: any free port (10911)")
    parser.add_argument("--advertise", metavar="HOST", help="address that clients connect to (the --bind address)")
    parser.add_argument("--broker-name", help="(broker-a; with --config what it says, or the host's name)")
    parser.add_argument("--broker-id", type=_broker_id, metavar="N", help="0: the master; above: a slave (0)")
    parser.add_argument(
        "--role", choices=_ROLES, help="(async-master); a slave needs a --broker-id; setting brokerRole"
    )
    parser.add_argument("--cluster", help="(local; with --config what it says, or DefaultCluster)")
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
        help="a setting of the broker by its RocketMQ name, which overrides changes made with mqadmin, or of a "
        "controller in the name server that is started (repeatable)",
    )
    parser.add_argument(
        "--tls-config", type=Path, metavar="FILE", help="RocketMQ's tls.properties; settings may also name them: tls.…"
    )
    parser.add_argument("--log-level", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    return parser.parse_args()


def configuration(options: argparse.Namespace) -> BrokerConfig:
    """Return the configuration; raise BadPropertiesFile or TlsRefused.

    Without name servers, one is to be started here.
    """
    file = read_config(options.config) if options.config else ConfigFile({}, ())
    if file.without_effect:
        _log.info("%s: without effect here: %s", options.config, ", ".join(file.without_effect))
    usual = BrokerConfig(StoreConfig.embedded(defaults.store_folder(options, file)))
    settings = dict(file.settings) | _settings(options)
    of_tls = {name: settings.pop(name) for name in tuple(settings) if name.startswith(TLS_PREFIX)}
    identity = defaults.identity(options, file)
    if options.config:
        _log.info("cluster=%s broker=%s store=%s", identity.cluster, identity.name, usual.store.folder.absolute())
    return BrokerConfig(
        store=usual.store,
        settings=settings,
        tls=read_settings(options.tls_config, below=file.tls, above=of_tls),
        name_servers=options.namesrv or file.name_servers,
        bind=options.bind or file.bind or usual.bind,
        port=_first(options.broker_port, file.port, usual.port),
        advertise=options.advertise or file.advertise,
        limits=replace(usual.limits, memory_bytes=usual.limits.memory_bytes // options.share),
        pulls=replace(usual.pulls, in_memory_ratio=usual.pulls.in_memory_ratio / options.share),
        identity=identity,
    )


def _first(*given: int | None) -> int:
    return next(each for each in given if each is not None)


def _settings(options: argparse.Namespace) -> dict[str, str]:
    settings = {}
    if options.flush:
        settings["flushDiskType"] = _FLUSHES[options.flush]
    if options.role:
        settings["brokerRole"] = _ROLES[options.role]
    if options.commit_log_file_size:
        settings["mappedFileSizeCommitLog"] = options.commit_log_file_size
    return settings | {name: text for name, text in options.setting if name not in OF_CONTROLLER}


def of_controller(options: argparse.Namespace, config: BrokerConfig) -> ControllerConfig | None:
    """Return the configuration of the controller in this process, if one is asked for.

    It is of the broker's cluster and beside the name server's files unless that is said. Raises ControllerRefused, also
    where no name server is started that could host it.
    """
    texts = {name: text for name, text in options.setting if name in OF_CONTROLLER}
    usual = {
        CLUSTER: config.identity.cluster,
        STORE: str(defaults.settings_file(options).parent.with_name("controller")),
    }
    found = ControllerConfig.of(texts, usual)
    if found is not None and config.name_servers:
        raise ControllerRefused(f"{ENABLE}: the name server of this process hosts a controller, but others are named")
    return found


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value


def _broker_id(text: str) -> int:
    try:
        return int(BROKER_ID.read(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _share(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= _MOST_SHARES):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST_SHARES}")
    return int(text)


def _name_servers(text: str) -> tuple[str, ...]:
    try:
        return name_servers(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
