"""``python -m broker_core.controller``: what an operator does while no controller runs.

::

    move file        copy the decisions from the file to an etcd that has none; `move etcd` does the reverse
    --set-back       the decisions were restored from a copy: look before anything is decided
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from broker_core import exit_status, logs
from broker_core.controller.config import ENABLE, NAMES, ControllerConfig, ControllerRefused
from broker_core.controller.etcd.config import ENDPOINTS
from broker_core.controller.file_decisions import take_lock
from broker_core.controller.moving import move
from broker_core.controller.seen import FILE_NAME, Seen
from broker_core.controller.server import Engine
from broker_core.errors import GantryError
from broker_core.properties_file import read_pairs


def main(arguments: list[str] | None = None) -> int:
    """Do one thing and return the exit status: 0, or else one of `exit_status`."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.set_back == (options.command is not None):
        parser.error("what is wanted is either `move` or --set-back")
    logs.configure("WARNING")
    try:
        config = _config(options)
        print(_set_back(config) if options.set_back else asyncio.run(_move(config, options.source)))
    except (GantryError, OSError) as error:
        print(f"controller: {error}", file=sys.stderr)
        return exit_status.REFUSED if isinstance(error, GantryError) else exit_status.SYSTEM
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m broker_core.controller", description="What is done while no controller runs."
    )
    parser.add_argument("-c", "--config", type=Path, metavar="FILE", help="the file of the name server that hosts it")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the controller; goes before what --config says (repeatable)",
    )
    parser.add_argument(
        "--set-back",
        action="store_true",
        help="note that the decisions were restored from a copy: after its start the controller decides nothing about "
        "a broker name until its replicas show that they know nothing newer, or an operator adopts its state",
    )
    move = parser.add_subparsers(dest="command").add_parser(
        "move", help="copy the decisions from the file to etcd, or back, where none may be yet"
    )
    move.add_argument("source", choices=("file", "etcd"), help="where they are; they are moved to the other one")
    return parser


def _config(options: argparse.Namespace) -> ControllerConfig:
    pairs = read_pairs(options.config) if options.config else {}
    texts = {name: text for name, text in pairs.items() if name in NAMES}
    for each in options.setting:
        name, separator, text = each.partition("=")
        if not separator or name not in NAMES:
            raise ControllerRefused(f"{each!r} is not NAME=VALUE of a controller's setting")
        texts[name] = text
    config = ControllerConfig.of(texts | {ENABLE: "true"})
    assert config is not None
    return config


def _set_back(config: ControllerConfig) -> str:
    lock = take_lock(config.folder)
    try:
        Seen(config.folder / FILE_NAME).mark()
    finally:
        os.close(lock)
    return f"noted in {config.folder / FILE_NAME}"


async def _move(config: ControllerConfig, source: str) -> str:
    if config.etcd is None:
        raise ControllerRefused(f"{ENDPOINTS} names no etcd to move from or to")
    async with AsyncExitStack() as opened:
        file, etcd = await Engine.of_file(config), await Engine.of_etcd(config.etcd)
        opened.push_async_callback(file.close)
        opened.push_async_callback(etcd.close)
        ways = {"file": (file, etcd), "etcd": (etcd, file)}[source]
        count = await move(ways[0].decisions, ways[1].decisions)
    return f"{count} broker names moved, from {'the file to etcd' if source == 'file' else 'etcd to the file'}"


if __name__ == "__main__":
    sys.exit(main())
