"""Another broker in the folder of a store, which leaves what Apache RocketMQ 4.9 leaves."""

from __future__ import annotations

from broker_core.store import MessageStore, StoreConfig
from broker_core.store.closed import NAME
from broker_core.store.layout import ABORT
from tests.support.stores import put


def use_elsewhere(config: StoreConfig, *, is_killed: bool = False) -> None:
    """Store one message; of `closed` it knows nothing, and a mark that is there it leaves as it is until it stops."""
    kept = {path: path.read_bytes() for name in (NAME, ABORT) if (path := config.folder / name).exists()}
    with MessageStore.open(config, now=None) as other:
        put(other, b"acknowledged elsewhere")
    (config.folder / NAME).unlink()
    for path, content in kept.items():
        if path.name == NAME or is_killed:
            path.write_bytes(content)
    if is_killed:
        (config.folder / ABORT).touch()
