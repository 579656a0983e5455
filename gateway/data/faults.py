"""Says in plain English, and at a JSON pointer, why a body has not the shape of a request; msgspec finds the faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import inspect

from console.pointers import escaped

_KINDS: Final = {
    "int": "a whole number",
    "float": "a decimal number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_MESSAGE: Final = re.compile(r"(.*?)(?: - at `(\$[^`]*)`)?", re.DOTALL)
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_OTHER_KIND: Final = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_BOUND: Final = re.compile(r"Expected `(\w+)` (of length )?([<>]=) (-?\d+)")
_HALF_PAIR: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}")
_LONGEST_NAME: Final = 150


def shape_fault(message: str, shape: Any, data: bytes) -> tuple[str, str]:
    """Return the pointer and the detail for msgspec's `message` about `data`, which is not of the type `shape`."""
    match = _MESSAGE.fullmatch(message)
    assert match is not None
    text, place = match[1], match[2] or "$"
    steps = _steps(place, data)
    if found := _UNKNOWN.fullmatch(text):
        name = found[1]
        steps = [*steps, name] if len(name) <= _LONGEST_NAME else steps
        fields = ", ".join(sorted(_fields(_shape_at(shape, _steps(place, data)))))
        return json_pointer(steps), f"{name[:_LONGEST_NAME]!r} is not a field here; known: {fields}."
    if found := _MISSING.fullmatch(text):
        return json_pointer([*steps, found[1]]), f"The field {found[1]!r} is required."
    return json_pointer(steps), _detail(text, _shape_at(shape, steps))


def json_fault(error: msgspec.DecodeError | UnicodeDecodeError, data: bytes) -> str:
    """Return what a body or frame is that is not JSON: "is empty", "is not UTF-8: …"."""
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8: {error.reason}"
    if not data.strip():
        return "is empty"
    text = str(error).removeprefix("JSON is malformed: ")
    is_cut = "truncated" in text
    # msgspec also calls it truncated if half of a pair stands where the other half would not fit.
    if "surrogate" in text or (is_cut and _HALF_PAIR.search(data[-12:])):
        return r"is not JSON: an escape such as \ud800 is only half of a surrogate pair"
    return "is not JSON: it ends too early" if is_cut else f"is not JSON: {text}"


def json_pointer(steps: Sequence[str]) -> str:
    """Return the pointer of a place in the body (RFC 6901)."""
    return "#" + "".join(f"/{escaped(step)}" for step in steps)


def _steps(place: str, data: bytes) -> list[str]:
    """Return the steps of msgspec's path; it does not name a key of a map, so the first faulty value names it."""
    steps: list[str] = []
    for name, index in _STEP.findall(place):
        if index != "...":
            steps.append(name or index)
            continue
        key = _key_of_no_text(data, steps)
        return steps if key is None else [*steps, key]
    return steps


def _key_of_no_text(data: bytes, steps: Sequence[str]) -> str | None:
    """Return the first key in the map at `steps` whose value is not a string: all maps here are of strings."""
    try:
        value = msgspec.json.decode(data)
        for step in steps:
            value = value[int(step) if isinstance(value, list) else step]
        keys = (str(key) for key, each in value.items() if not isinstance(each, str))
        return next(key for key in keys if len(key) <= _LONGEST_NAME)
    except (ValueError, RecursionError, LookupError, StopIteration):  # damaged after the fault, or a repeated member
        return None


def _shape_at(shape: Any, steps: Sequence[str]) -> inspect.Type | None:
    kind: inspect.Type | None = inspect.type_info(shape)
    for step in steps:
        if isinstance(kind, inspect.UnionType):
            kind = next((each for each in kind.types if not isinstance(each, inspect.NoneType)), None)
        kind = _inside(kind, step)
    return kind


def _inside(kind: inspect.Type | None, step: str) -> inspect.Type | None:
    if isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.StructType):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    return kind.item_type if isinstance(kind, inspect.ListType) else None


def _fields(kind: inspect.Type | None) -> list[str]:
    """Return the names of an object's fields."""
    return [field.encode_name for each in _alternatives(kind) for field in getattr(each, "fields", ())]


def _choices(kind: inspect.Type | None) -> list[str]:
    return [repr(value) for each in _alternatives(kind) for value in getattr(each, "values", ())]


def _alternatives(kind: inspect.Type | None) -> Sequence[inspect.Type | None]:
    return kind.types if isinstance(kind, inspect.UnionType) else [kind]


def _detail(text: str, kind: inspect.Type | None) -> str:
    if found := _OTHER_KIND.fullmatch(text):
        wanted = [_KINDS.get(each, each) for each in found[1].split(" | ")]
        return f"Must be {_or(wanted)}, not {_KINDS.get(found[2], found[2])}."
    if found := _BOUND.fullmatch(text):
        of, is_length, sign, bound = found.groups()
        if not is_length:
            return f"Must be at {'least' if sign == '>=' else 'most'} {int(bound):,}."
        if (sign, bound) == (">=", "1"):
            return "Must not be empty."
        things = "characters" if of == "str" else "items"
        return f"Must have at {'least' if sign == '>=' else 'most'} {int(bound):,} {things}."
    choices = _choices(kind)
    if text.startswith("Invalid enum value") and choices:
        return f"Must be {_or(choices)}."
    return f"{text}."


def _or(names: Sequence[str]) -> str:
    return " or ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])
