"""What a broker is called and where it keeps its files when neither the options nor a file say so.

Without a file these are Gantry's own; with one they are RocketMQ's, for which such files are written.
"""

from __future__ import annotations

import argparse
import socket
from pathlib import Path
from typing import Final

from broker_core.broker import Identity
from broker_core.broker.config import MASTER_ID
from broker_core.broker.settings.file import ConfigFile, identity_name
from broker_core.namesrv.config_file import USUAL_SETTINGS
from broker_core.properties_file import BadPropertiesFile, absolute_path

DATA: Final = Path("data")
CLUSTER: Final = "DefaultCluster"
_STORE: Final = "~/store"
_SETTINGS: Final = Path("namesrv", "kvConfig.json")


def identity(options: argparse.Namespace, file: ConfigFile) -> Identity:
    """Return the names of broker and cluster; raise BadPropertiesFile where the host's name is needed and is none."""
    if options.config is None:
        usual = Identity()
        return Identity(
            cluster=options.cluster or usual.cluster,
            name=options.broker_name or usual.name,
            broker_id=options.broker_id or usual.broker_id,
        )
    return Identity(
        cluster=options.cluster or file.cluster or CLUSTER,
        name=options.broker_name or file.name or _host_name(options.config),
        broker_id=next((each for each in (options.broker_id, file.broker_id) if each is not None), MASTER_ID),
    )


def store_folder(options: argparse.Namespace, file: ConfigFile) -> Path:
    """Return the folder of the messages; raise BadPropertiesFile if it would be in a home folder that there is not."""
    named: Path | None = options.store or file.store
    if named is not None:
        return named
    if options.config is None or options.data_dir is not None:
        return (options.data_dir or DATA) / "broker"
    return _at_home(options.config, "storePathRootDir", _STORE)


def settings_file(options: argparse.Namespace) -> Path:
    """Return the key-value settings of the name server in a broker's process; raises as `store_folder`."""
    own: Path = (options.data_dir or DATA) / _SETTINGS
    # Earlier releases kept them there with a file, too.
    if options.config is None or options.data_dir is not None or own.parent.exists():
        return own
    return _at_home(options.config, "kvConfigPath", USUAL_SETTINGS)


def _host_name(file: Path) -> str:
    host = socket.gethostname()
    try:
        return identity_name(host)
    except ValueError as error:
        raise BadPropertiesFile(f"{file}: brokerName is missing, and the host's name cannot be one: {error}") from None


def _at_home(file: Path, name: str, path: str) -> Path:
    try:
        return absolute_path(path)
    except ValueError as error:
        raise BadPropertiesFile(f"{file}: {name} is missing, and its default {error}") from None
