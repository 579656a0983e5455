"""Header dataclasses and their text form, `extFields` (protocol/README.md#header-fields).

On the wire a header is a map from name to text. Here it is a frozen dataclass, and this module turns one into the
other by the dataclass's own annotations::

    @request(RequestCode.GET_MAX_OFFSET)
    @dataclass(frozen=True, slots=True)
    class GetMaxOffsetRequest:
        topic: str                    "topic"    required
        queue_id: I32                 "queueId"  required, decimal, 32 bits signed
        bname: str | None = None      "bname"    left out when None

The wire's name is the attribute's name in camel case, or ``field(metadata={"wire": "a"})``. Types are `str`, `bool`
(the text true, whatever its case; all other text is false), `float`, and the integers `I32` and `I64`, each also
``| None``. A field with a default may be absent.

The header of a response is marked by `response`.

Both directions are compiled once per class, because every message passes here: the functions made below contain
one line per field and nothing that looks at types. Only when such a function fails is the slow way walked, to say
which field was wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, make_dataclass
from typing import Annotated, Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from broker_core.native import native
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.errors import HeaderError, MalformedHeader, MissingField
from broker_core.protocol.names import name_on_wire

T = TypeVar("T")

I32: TypeAlias = Annotated[int, "i"]  # an integer that must fit 32 bits signed; the mark is struct's letter
I64: TypeAlias = Annotated[int, "q"]

_Encode: TypeAlias = Callable[[Any], dict[str, str]]
_Decode: TypeAlias = Callable[[Mapping[str, str]], Any]

_codes: Final[dict[type, int]] = {}
_twins: Final[dict[type, type]] = {}
_encoders: Final[dict[type, _Encode]] = {}
_decoders: Final[dict[type, _Decode]] = {}


def request(code: RequestCode) -> Callable[[type[T]], type[T]]:
    """Return a decorator that makes a dataclass the header of requests with `code`; it is kept as `CODE`."""

    def mark(kind: type[T]) -> type[T]:
        _codes[kind] = int(code)  # a plain one: that of an enum is slow to write
        cast(Any, kind).CODE = code
        return response(kind)

    return mark


def response(kind: type[T]) -> type[T]:
    """Make a dataclass a header: the same class, made four times as fast.

    The `__init__` of a frozen dataclass sets each field through `object.__setattr__`. The one put in its place turns
    the new object into a twin that is not frozen, sets the fields as any class does, and turns it back; both turns are
    allowed because the slots of the two are the same.
    """
    each_field = fields(cast(Any, kind))
    twin = _twins[kind] = make_dataclass(kind.__name__, [each.name for each in each_field], slots=True)
    names: dict[str, object] = {"kind": kind, "twin": twin, "turn": object.__setattr__}
    parameters = ["self"]
    for each in each_field:
        if each.default_factory is not MISSING:
            raise TypeError(f"{kind.__name__}.{each.name}: a header field has a plain default or none")
        names[f"d_{each.name}"] = each.default
        parameters.append(each.name if each.default is MISSING else f"{each.name}=d_{each.name}")
    lines = [f"def __init__({', '.join(parameters)}):", "    turn(self, '__class__', twin)"]
    lines += [f"    self.{each.name} = {each.name}" for each in each_field]
    cast(Any, kind).__init__ = _compiled([*lines, "    self.__class__ = kind"], "__init__", names)
    return kind


def code_of(kind: type) -> int:
    """Return the request code of a header class; raises TypeError for a class that `request` did not mark."""
    try:
        return _codes[kind]
    except KeyError:
        raise TypeError(f"{kind.__name__} is not the header of a request") from None


def encode(header: object) -> dict[str, str]:
    """Return the text form of a header; fields that are None are left out."""
    kind = type(header)
    encoder = _encoders.get(kind)
    if encoder is None:
        encoder = _encoders[kind] = _compile_encoder(kind)
    return encoder(header)


def decode(kind: type[T], ext_fields: Mapping[str, str]) -> T:
    """Return the header of class `kind` that a text form holds; names it does not know are ignored.

    Raises MissingField, or MalformedHeader for text that is not of its field's type.
    """
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = _make_decoder(kind)
    try:
        return cast(T, decoder(ext_fields))
    except (KeyError, ValueError, struct.error):
        raise _explain(kind, ext_fields) from None


def wire_names(kind: type) -> dict[str, str]:
    """Return the attribute names of a header class, each with its name on the wire."""
    return {plan.name: plan.wire for plan in _plans(kind)}


class _Integers(dict[str, int]):
    """Integers by their text; most of what is 32 bits wide is small, and found faster than parsed."""

    def __missing__(self, text: str) -> int:
        return int(text)


_SMALL: Final = _Integers((str(each), each) for each in range(-1, 256))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one field travels."""

    name: str
    wire: str
    type: type
    width: str | None  # struct's letter, integers only
    optional: bool
    default: object

    @property
    def letter(self) -> str:
        """What the field holds: text, boolean, floating point number, or an integer of 32 or 64 bits."""
        return self.width or self.type.__name__[0]

    @property
    def required(self) -> bool:
        return self.default is MISSING


def _plans(kind: type) -> list[_Plan]:
    hints = get_type_hints(kind, include_extras=True)
    return [_plan(kind, each, hints[each.name]) for each in fields(kind)]


def _plan(kind: type, field: Field[Any], hint: Any) -> _Plan:
    optional = False
    if get_origin(hint) is not Annotated and type(None) in get_args(hint):
        optional = True
        hint = Union[tuple(each for each in get_args(hint) if each is not type(None))]  # noqa: UP007 - made at run time
    width = None
    if get_origin(hint) is Annotated:
        hint, width = get_args(hint)
    if hint not in (str, bool, float) and width is None:
        raise TypeError(f"{kind.__name__}.{field.name}: {hint} has no text form")
    return _Plan(field.name, name_on_wire(field), hint, width, optional, field.default)


def _text(plan: _Plan, value: str) -> str:
    """Return the expression that turns the expression `value` into text."""
    if plan.type is str:
        return value
    if plan.type is bool:
        return f'("true" if {value} else "false")'
    return f"f'{{{value}}}'"


def _value(plan: _Plan, text: str) -> str:
    """Return the expression that turns the expression `text` into the field's type."""
    if plan.type is str:
        return text
    if plan.type is bool:
        return f'({text} == "true" or ({text} != "false" and {text}.lower() == "true"))'
    return f"small[{text}]" if plan.width == "i" else f"{plan.type.__name__}({text})"


def _compile_encoder(kind: type) -> _Encode:
    plans = _plans(kind)
    always = ", ".join(f"{plan.wire!r}: {_text(plan, f'h.{plan.name}')}" for plan in plans if not plan.optional)
    lines = ["def encode(h):", f"    f = {{{always}}}"]
    for plan in plans:
        if plan.optional:
            lines += [f"    if (v := h.{plan.name}) is not None:", f"        f[{plan.wire!r}] = {_text(plan, 'v')}"]
    return cast(_Encode, _compiled([*lines, "    return f"], "encode", {}))


def _make_decoder(kind: type) -> _Decode:
    """Return the function from text form to header: the compiled one, which leaves what is odd to the other."""
    decode_odd = _compile_decoder(kind)
    if native is None:
        return decode_odd
    compiled = native.decode_fields
    plans = tuple(
        (plan.wire, getattr(kind, plan.name), plan.letter, ... if plan.required else plan.default)
        for plan in _plans(kind)
    )

    def decode_any(ext_fields: Mapping[str, str]) -> object:
        header = compiled(kind, plans, ext_fields)
        return decode_odd(ext_fields) if header is None else header

    return decode_any


def _compile_decoder(kind: type) -> _Decode:
    """Return the function from text form to header; like `__init__` it fills a twin and turns it."""
    plans = _plans(kind)
    names: dict[str, object] = {"kind": kind, "twin": _twins[kind], "new": object.__new__, "small": _SMALL}
    lines = ["def decode(f):", "    h = new(twin)"]
    widths = ""  # of the required integers; packing them is the cheapest check that each fits
    checked: list[str] = []
    for at, plan in enumerate(plans):
        if plan.required:
            lines.append(f"    h.{plan.name} = v{at} = {_value(plan, f'f[{plan.wire!r}]')}")
            if plan.width:
                widths += plan.width
                checked.append(f"v{at}")
            continue
        names[f"d{at}"] = plan.default
        value = _value(plan, f"f[{plan.wire!r}]")
        lines.append(f"    h.{plan.name} = v{at} = {value} if {plan.wire!r} in f else d{at}")
        if plan.width:
            names[f"fits{at}"] = struct.Struct(plan.width).pack
            lines += [f"    if v{at} is not d{at}:", f"        fits{at}(v{at})"]
    if checked:
        names["fit"] = struct.Struct("=" + widths).pack
        lines.append(f"    fit({', '.join(checked)})")
    return cast(_Decode, _compiled([*lines, "    h.__class__ = kind", "    return h"], "decode", names))


def _compiled(lines: list[str], name: str, names: dict[str, object]) -> object:
    # The source is made of the attribute and wire names of our own dataclasses, never of what came over the wire.
    exec("\n".join(lines), names)  # noqa: S102
    return names[name]


def _explain(kind: type, ext_fields: Mapping[str, str]) -> HeaderError:
    """Return the error for the first field of `ext_fields` that is missing or not of its type."""
    for plan in _plans(kind):
        text = ext_fields.get(plan.wire)
        if text is None:
            if plan.required:
                return MissingField(kind.__name__, plan.wire)
            continue
        try:
            if plan.type is not bool and plan.type is not str:
                struct.pack(plan.width or "d", plan.type(text))
        except (ValueError, struct.error):
            return MalformedHeader(f"{kind.__name__}: {plan.wire} is {text[:40]!r}, not a {_say(plan)}")
    return MalformedHeader(f"{kind.__name__}: cannot be read")


def _say(plan: _Plan) -> str:
    return {"i": "32-bit integer", "q": "64-bit integer"}.get(plan.width or "", "number")
