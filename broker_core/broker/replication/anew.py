"""A replica whose log is of no use begins anew (broker/replication/README.md#rejoining)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from broker_core.broker.replication.identity_file import FILE_NAME as IDENTITY
from broker_core.logs import get_logger
from broker_core.store.layout import LOCK

PREFIX: Final = "replaced-"
_CONFIG: Final = "config"
_KEPT: Final = (IDENTITY, LOCK, _CONFIG)
# They count messages of the log; the others are of the broker.
_OF_THE_LOG: Final = ("consumerOffset.json", "delayOffset.json", "leases.journal")

_log: Final = get_logger(__name__)


def put_aside(folder: Path, now: datetime) -> Path:
    """Move the log of a closed store, and all that belongs to it, into a new folder inside; return that.

    Nothing is deleted. Identity, settings, topics and groups stay. Raises OSError.
    """
    aside = folder / f"{PREFIX}{now:%Y%m%d-%H%M%S-%f}"
    aside.mkdir()
    for path in sorted(folder.iterdir()):
        if path.name not in _KEPT and not path.name.startswith(PREFIX):
            path.rename(aside / path.name)
    for path in sorted((folder / _CONFIG).glob("*")):
        if path.name.removesuffix(".bak") in _OF_THE_LOG:
            (aside / _CONFIG).mkdir(exist_ok=True)
            path.rename(aside / _CONFIG / path.name)
    _log.warning("store %s: its log was put aside in %s", folder, aside.name)
    return aside
