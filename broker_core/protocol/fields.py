"""Header dataclasses and their text form, `extFields` (protocol/README.md#header-fields).

On the wire a header is a map from name to text. Here it is a dataclass, and this module converts between the two by the
annotations of the dataclass::

    @header(RequestCode.GET_MAX_OFFSET)
    class GetMaxOffsetRequest:
        topic: str                    "topic"    required
        queue_id: I32                 "queueId"  required, decimal, 32 bits signed
        bname: str | None = None      "bname"    left out when None

The name on the wire is the attribute's name in camel case, or ``field(metadata={"wire": "a"})``. Types are `str`,
`bool` (the text true in any case; all other text is false), and the integers `I32` and `I64`, each also ``| None``.
A field with a default may be absent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast, dataclass_transform, get_args, get_type_hints

from broker_core.native import native
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.errors import MalformedHeader, MissingField
from broker_core.protocol.names import name_on_wire
from broker_core.protocol.values import hot_value

T = TypeVar("T")

I32: TypeAlias = Annotated[int, "i"]  # an integer within 32 bits signed; the annotation is the format letter of struct
I64: TypeAlias = Annotated[int, "q"]

_codes: Final[dict[type, int]] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def header(code: RequestCode | None = None) -> Callable[[type[T]], type[T]]:
    """Return a decorator that makes a class the header of requests with `code`, or of a response without a code."""

    def make(cls: type[T]) -> type[T]:
        kind = hot_value(cls)
        if code is not None:
            cast(Any, kind).CODE = code
            _codes[kind] = int(code)  # a plain int: writing an enum is slow
        return kind

    return make


def code_of(kind: type) -> int:
    """Return the request code of a header class; raises TypeError for a class that is not the header of a request."""
    try:
        return _codes[kind]
    except KeyError:
        raise TypeError(f"{kind.__name__} is not the header of a request") from None


def encode(header: object) -> dict[str, str]:
    """Return the text form of a header; fields that are None are left out."""
    form = _form_of(type(header))
    if native is not None:
        ext_fields = native.encode_fields(header, form.plans)
        if ext_fields is not None:
            return ext_fields
    return _encode(header, form)


def decode(kind: type[T], ext_fields: Mapping[str, str]) -> T:
    """Return the header of class `kind` from its text form; unknown names are ignored.

    Raises MissingField, or MalformedHeader for text that does not match its field's type.
    """
    form = _form_of(kind)
    if native is not None:
        header = native.decode_fields(kind, form.plans, ext_fields)
        if header is not None:
            return header
    return _decode(kind, form, ext_fields)


def find_misread(kind: type, ext_fields: Mapping[str, str], others: Container[str] | None) -> str | None:
    """Return a sentence about a field that `decode` would not take as it is meant; None if there is none.

    That is a boolean that is neither true nor false; a name that differs from a field's in case, underscores or dashes
    only; and a name that is neither a field's nor one of `others`, unless these are None.
    """
    form = _form_of(kind)
    known = {each.wire: each for each in form.fields}
    plain = {_plain(each.wire): each.wire for each in form.fields}
    for name, text in ext_fields.items():
        if name in known:
            if known[name].letter == "b" and text.lower() not in ("true", "false"):
                return f"{name} is {text[:40]!r}, which is neither true nor false"
        elif _plain(name) in plain:
            return f"the field {name[:40]!r} is not served: {plain[_plain(name)]} is"
        elif others is not None and name not in others:
            return f"the field {name[:40]!r} is not served"
    return None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def wire_names(kind: type) -> dict[str, str]:
    """Return the attribute names of a header class with their names on the wire."""
    return {each.name: each.wire for each in _form_of(kind).fields}


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field is encoded."""

    name: str
    wire: str
    letter: str  # the type: s text, b boolean, i and q integers of 32 and 64 bits
    default: object


@dataclass(frozen=True, slots=True)
class _Form:
    """How a header class is encoded."""

    fields: tuple[_Field, ...]
    plans: tuple[tuple[str, Any, str, Any], ...]
    """The form of the fields for the compiled functions."""


_forms: Final[dict[type, _Form]] = {}


def _form_of(kind: type) -> _Form:
    form = _forms.get(kind)
    if form is None:
        form = _forms[kind] = _make_form(kind)
    return form


def _make_form(kind: type) -> _Form:
    hints = get_type_hints(kind, include_extras=True)
    found = tuple(_field(kind, each, hints[each.name]) for each in fields(kind))
    plans = tuple(
        (each.wire, getattr(kind, each.name), each.letter, ... if each.default is MISSING else each.default)
        for each in found
    )
    return _Form(found, plans)


def _field(kind: type, field: Field[Any], hint: Any) -> _Field:
    if field.default_factory is not MISSING:
        raise TypeError(f"{kind.__name__}.{field.name}: a header field may have only a plain default value")
    kinds = [each for each in get_args(hint) if each is not type(None)]
    letter = _LETTERS.get(kinds[0] if type(None) in get_args(hint) else hint)
    if letter is None:
        raise TypeError(f"{kind.__name__}.{field.name}: {hint} has no text form")
    return _Field(field.name, name_on_wire(field), letter, field.default)


def _encode(header: object, form: _Form) -> dict[str, str]:
    return {
        each.wire: _WRITERS[each.letter](value)
        for each in form.fields
        if (value := getattr(header, each.name)) is not None
    }


def _decode(kind: type[T], form: _Form, ext_fields: Mapping[str, str]) -> T:
    values = []
    for each in form.fields:
        text = ext_fields.get(each.wire)
        if text is not None:
            try:
                values.append(_READERS[each.letter](text))
            except ValueError:
                raise MalformedHeader(
                    f"{kind.__name__}: {each.wire} is {text[:40]!r}, not a {_MEANINGS[each.letter]}"
                ) from None
        elif each.default is not MISSING:
            values.append(each.default)
        else:
            raise MissingField(kind.__name__, each.wire)
    return kind(*values)


def _write_bool(value: object) -> str:
    return "true" if value else "false"


def _read_bool(text: str) -> bool:
    return text.lower() == "true"


def read_i32(text: str) -> int:
    """Return the number that Java's ``Integer.parseInt`` reads; raises ValueError."""
    return _integer(text, 1 << 31)


def _read_i64(text: str) -> int:
    return _integer(text, 1 << 63)


def _integer(text: str, bound: int) -> int:
    number = int(text)
    # Python alone takes spaces around the digits, and underscores between them.
    if not -bound <= number < bound or not text.lstrip("+-").isdecimal():
        raise ValueError
    return number


_LETTERS: Final[dict[Any, str]] = {str: "s", bool: "b", I32: "i", I64: "q"}
_WRITERS: Final[dict[str, Callable[[Any], str]]] = {"s": str, "b": _write_bool, "i": str, "q": str}
_READERS: Final[dict[str, Callable[[str], object]]] = {
    "s": str, "b": _read_bool, "i": read_i32, "q": _read_i64
}  # fmt: skip
_MEANINGS: Final = {"i": "32-bit integer", "q": "64-bit integer"}
