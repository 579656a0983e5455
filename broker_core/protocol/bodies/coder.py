"""JSON bodies: converts between frozen dataclasses and text (protocol/README.md#bodies).

The annotations of a body's class define the text: `str`, `int`, `float`, `bool`, a `StrEnum`, another body,
``list[…]``, ``dict[str, …]``, ``dict[int, …]`` or ``dict[MessageQueue, …]`` (any body with plain fields can be a key),
each also ``| None``. Names on the wire are in camel case as in headers, or
given by ``field(metadata={"wire": …})``; a name in ``"also"`` is read too.

Reading is as tolerant as in Java: unknown names are ignored, absent fields get their defaults, numbers may be text, an
enum may be its ordinal, and an enum's unknown name is None. An explicit null also means the default, except for a list
or a map, where Java fails too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from broker_core.protocol import fastjson
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.names import name_on_wire

T = TypeVar("T")

_ToTree: TypeAlias = Callable[[Any], Any]
_FromTree: TypeAlias = Callable[[Any], Any]

_INT64: Final = 1 << 63
_writers: Final[dict[Any, _ToTree]] = {}
_readers: Final[dict[Any, _FromTree]] = {}


def encode(body: object) -> bytes:
    """Return the text of a body as Java peers write it: integers and objects as keys are unquoted."""
    return fastjson.dumps(to_tree(body))


def encode_strict(body: object) -> bytes:
    """Return the text of a body as strict JSON: integers and objects as keys become strings."""
    return fastjson.dumps_strict(to_tree(body))


def decode(kind: type[T], data: bytes, loose_bytes: int | None = None) -> T:
    """Return the decoded body of class `kind`; raises MalformedBody, and LooseJsonTooLong as `fastjson.loads` does."""
    if not data:
        raise MalformedBody(f"{kind.__name__}: there is no body")
    return from_tree(kind, fastjson.loads(data, loose_bytes))


def to_tree(body: object) -> Any:
    """Return a body as a tree for `fastjson`; fields that are None are left out."""
    return _writer(type(body))(body)


def from_tree(kind: type[T], tree: Any) -> T:
    """Return the body of class `kind` from a tree; raises MalformedBody."""
    return cast(T, _reader(kind)(tree))


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return the type without None, and whether None is allowed."""
    arguments = get_args(hint)
    if type(None) not in arguments or get_origin(hint) in (list, dict):
        return hint, False
    return next(each for each in arguments if each is not type(None)), True


# ---- to a tree -------------------------------------------------------------------------------------------------------


def _writer(hint: Any) -> _ToTree:
    writer = _writers.get(hint)
    if writer is None:
        writer = _writers[hint] = _make_writer(_without_none(hint)[0])
    return writer


def _make_writer(hint: Any) -> _ToTree:
    if is_dataclass(hint):
        return _make_object_writer(cast(type, hint))
    arguments = get_args(hint)
    if get_origin(hint) is list:
        write_item = _writer(arguments[0])
        return _as_it_is if write_item is _as_it_is else lambda value: [write_item(each) for each in value]
    if get_origin(hint) is dict:
        write_value = _writer(arguments[1])
        if is_dataclass(arguments[0]):
            write_key = _writer(arguments[0])
            return lambda value: {fastjson.object_key(write_key(key)): write_value(each) for key, each in value.items()}
        return lambda value: {key: write_value(each) for key, each in value.items()}
    return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _make_object_writer(kind: type) -> _ToTree:
    hints = get_type_hints(kind)
    # Alphabetical, as Java writes them: clients that compare routes as text must find them equal.
    plan = sorted((name_on_wire(each), each.name, _writer(hints[each.name])) for each in fields(kind))

    def write(body: Any) -> dict[str, Any]:
        tree = {}
        for wire, name, write_value in plan:
            value = getattr(body, name)
            if value is not None:
                tree[wire] = write_value(value)
        return tree

    return write


# ---- from a tree -----------------------------------------------------------------------------------------------------


def _reader(hint: Any) -> _FromTree:
    reader = _readers.get(hint)
    if reader is None:
        reader = _readers[hint] = _make_reader(hint)
    return reader


def _make_reader(hint: Any) -> _FromTree:
    hint, optional = _without_none(hint)
    read = _make_plain_reader(hint)
    return (lambda tree: None if tree is None else read(tree)) if optional else read


def _make_plain_reader(hint: Any) -> _FromTree:
    if is_dataclass(hint):
        return _make_object_reader(cast(type, hint))
    arguments = get_args(hint)
    if get_origin(hint) is list:
        return _make_list_reader(arguments[0])
    if get_origin(hint) is dict:
        return _make_dict_reader(arguments[0], arguments[1])
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _make_enum_reader(hint)
    return _SCALARS[hint]


def _make_list_reader(item: Any) -> _FromTree:
    read_item = _reader(item)

    def read(tree: Any) -> list[Any]:
        if not isinstance(tree, list):
            raise MalformedBody(f"{_describe(tree)} instead of a list")
        return [read_item(each) for each in tree]

    return read


def _make_dict_reader(key: Any, value: Any) -> _FromTree:
    read_key = _make_key_reader(key)
    read_value = _reader(value)

    def read(tree: Any) -> dict[Any, Any]:
        if not isinstance(tree, dict):
            raise MalformedBody(f"{_describe(tree)} instead of a map")
        return {read_key(name): read_value(each) for name, each in tree.items()}

    return read


def _make_key_reader(key: Any) -> _FromTree:
    read_key = _reader(key)
    if not is_dataclass(key):
        return read_key

    def read(name: Any) -> Any:
        if isinstance(name, tuple):
            return read_key(dict(name))
        return read_key(fastjson.loads(name.encode("utf-8", "replace")))  # an object as text within a string

    return read


def _make_enum_reader(kind: type[StrEnum]) -> _FromTree:
    members = list(kind)

    def read(tree: Any) -> StrEnum | None:
        if isinstance(tree, str):
            return next((each for each in members if each.value == tree), None)
        return members[tree] if isinstance(tree, int) and 0 <= tree < len(members) else None

    return read


def _make_object_reader(kind: type) -> _FromTree:
    hints = get_type_hints(kind)
    plan = [
        (wire, each.name, _reader(hints[each.name]), _is_collection(hints[each.name]))
        for each in fields(kind)
        for wire in _names_to_read(each)
    ]
    required = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]

    def read(tree: Any) -> Any:
        if not isinstance(tree, dict):
            raise MalformedBody(f"{kind.__name__}: {_describe(tree)} instead of an object")
        values = {}
        for wire, name, read_value, is_collection in plan:
            if wire not in tree or (tree[wire] is None and not is_collection):
                continue
            try:
                values[name] = read_value(tree[wire])
            except MalformedBody as error:
                raise MalformedBody(f"{kind.__name__}.{wire}: {error}") from None
        for name in required:
            if name not in values:
                raise MalformedBody(f"{kind.__name__}: {name} is missing")
        return kind(**values)

    return read


def _names_to_read(field: Any) -> list[str]:
    also = field.metadata.get("also")
    return [name_on_wire(field)] if also is None else [also, name_on_wire(field)]


def _is_collection(hint: Any) -> bool:
    return get_origin(hint) in (list, dict)


def _read_int(tree: Any) -> int:
    try:
        number = int(tree)
    except (TypeError, ValueError, OverflowError):
        raise MalformedBody(f"{_describe(tree)} instead of an integer") from None
    if not -_INT64 <= number < _INT64:
        raise MalformedBody(f"{number} is beyond 64 bits")
    return number


def _read_float(tree: Any) -> float:
    try:
        return float(tree)
    except (TypeError, ValueError, OverflowError):
        raise MalformedBody(f"{_describe(tree)} instead of a number") from None


def _read_bool(tree: Any) -> bool:
    return tree.lower() == "true" if isinstance(tree, str) else bool(tree)


def _read_str(tree: Any) -> str:
    if isinstance(tree, str):
        return tree
    if isinstance(tree, bool):
        return "true" if tree else "false"
    if isinstance(tree, int | float):
        return str(tree)
    raise MalformedBody(f"{_describe(tree)} instead of text")


def _describe(tree: Any) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", type(None): "null", tuple: "an object"}
    return names.get(type(tree), repr(tree)[:40])


_SCALARS: Final[dict[type, _FromTree]] = {int: _read_int, float: _read_float, bool: _read_bool, str: _read_str}
