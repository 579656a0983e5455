"""Valid objects to damage: values of any header or body class, generated from its annotations with a seed."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from random import Random
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from broker_core.protocol import bodies, headers
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties

TEXTS: Final = (
    "", "orders", "group-a", "%RETRY%group-a", "TBW102", "TagA || TagB", "*", "TAG", "SINGLE_TAG", "broker-a",
    "127.0.0.1:10911", "10.0.0.5@1", "7F0000010FFF4E25154F1B2C3D4E0001", "0 1700000000000 60000 0 0 broker-a 0 17",
    "KEYS\x01A17\x02TAGS\x01created\x02WAIT\x01true", "é😀", "a b", "../..", "-1", "9" * 30, "AQ==",
)  # fmt: skip
NUMBERS: Final = (0, 1, -1, 2, 4, 6, 7, 16, 32, 100, 0x7FFFFFFF, -(1 << 31))
LONG_NUMBERS: Final = (*NUMBERS, 1_700_000_000_000, (1 << 63) - 1, -1 << 63)


def header_kinds() -> list[type]:
    """Return every header class, of requests and responses."""
    return [kind for kind in _dataclasses_of(headers) if hasattr(kind, "__slots__")]


def body_kinds() -> list[type]:
    """Return every body class."""
    return [kind for name in bodies.__all__ if is_dataclass(kind := getattr(bodies, name)) and isinstance(kind, type)]


def sample(random: Random, kind: Any) -> Any:
    """Return a value of a dataclass, or of any annotation that its fields may have."""
    return _maker(kind)(random)


def message(random: Random) -> Message:
    """Return a message with a few properties."""
    pairs = {
        key: random.choice(TEXTS[1:]).replace("\x01", "").replace("\x02", "") for key in ("KEYS", "TAGS", "colour")
    }
    return Message("orders", random.randbytes(random.randrange(40)), pairs, random.choice(NUMBERS))


def property_text(random: Random) -> str:
    """Return a property string."""
    return format_properties(message(random).properties)


def _dataclasses_of(package: types.ModuleType) -> list[type]:
    found: dict[type, None] = {}
    for each in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{each.name}")
        found |= {
            kind: None
            for kind in vars(module).values()
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__
        }
    return list(found)


@cache
def _maker(hint: Any) -> Callable[[Random], Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        numbers = NUMBERS if arguments[1] == "i" else LONG_NUMBERS
        return lambda random: random.choice(numbers)
    if origin in (types.UnionType, Union):
        make = _maker(next(each for each in arguments if each is not type(None)))
        return lambda random: None if random.random() < 0.3 else make(random)
    if origin is list:
        make_item = _maker(arguments[0])
        return lambda random: [make_item(random) for _ in range(random.randrange(4))]
    if origin is dict:
        make_key, make_value = _maker(arguments[0]), _maker(arguments[1])
        return lambda random: {make_key(random): make_value(random) for _ in range(random.randrange(4))}
    if is_dataclass(hint):
        return _dataclass_maker(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return lambda random: random.choice(list(hint))
    return _SCALARS[hint]


def _dataclass_maker(kind: Any) -> Callable[[Random], Any]:
    hints = get_type_hints(kind, include_extras=True)
    makers = {each.name: _maker(hints[each.name]) for each in fields(kind)}
    return lambda random: kind(**{name: make(random) for name, make in makers.items()})


_SCALARS: Final[dict[Any, Callable[[Random], Any]]] = {
    str: lambda random: random.choice(TEXTS),
    int: lambda random: random.choice(LONG_NUMBERS),
    bool: lambda random: random.random() < 0.5,
    float: lambda random: random.choice((0.0, 1.5, -3.25, 1e300)),
}
