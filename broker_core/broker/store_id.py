"""The identity of a store: a random id in the data folder, by which others know it again at whatever address.

A name and an address do not identify a broker: two instances may have the default name, and one may take the port that
another one left. Apache RocketMQ has nothing like it.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

import orjson

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.saving import JsonFile

FILE_NAME: Final = "storeId.json"
_FIELD: Final = "storeId"


def load_or_create(file: JsonFile) -> str:
    """Return the id in the file, or a new one that is in the file now; raise BadConfigFile or OSError."""
    tree: Any = file.load()
    if tree is None:
        created = secrets.token_hex(16)
        file.save(orjson.dumps({_FIELD: created}, option=orjson.OPT_INDENT_2))
        return created
    found = tree.get(_FIELD) if isinstance(tree, dict) else None
    if not isinstance(found, str) or not found:
        raise BadConfigFile(f"{file} has no {_FIELD}")
    return found
