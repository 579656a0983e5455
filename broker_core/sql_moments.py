"""Where Spark takes a text such as 'now' for a time, also without a cast: beside a time, and where one is needed.

Types are not known here, only columns with times: what an expression computes of other columns, only Spark can say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from broker_core.sql_functions import GROUPS
from broker_core.sql_tokens import Token, own_level

TIMES: Final = frozenset({"store_timestamp", "born_timestamp"})
"""The columns of a topic with times."""

# Not 'epoch', which is the same time each time.
_MOMENT: Final = re.compile(r"['\"]\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_DEEPEST: Final = 30
_TYPES: Final = frozenset({"date", "timestamp", "timestamp_ltz", "timestamp_ntz"})
_OF_TIMES: Final = frozenset(GROUPS["dates and times"].split()) | _TYPES
# Their arguments have one type: with a time among them, a text is one.
_ALIKE: Final = frozenset({
    "array", "array_append", "array_contains", "array_insert", "array_position", "array_prepend", "array_remove",
    "coalesce", "equal_null", "greatest", "if", "ifnull", "least", "map", "nullif", "nvl", "nvl2", "sequence",
})  # fmt: skip
# Of these the value is no text and no time, whatever their arguments are.
_OTHERS: Final = frozenset({
    "char_length", "contains", "endswith", "ilike", "instr", "len", "length", "like", "locate", "position", "regexp",
    "regexp_like", "rlike", "startswith",
})  # fmt: skip
_COMPARING: Final = frozenset({"=", "<", ">", "between", "in", "is", "like", "ilike", "rlike", "regexp"})
_CASE: Final = frozenset({"case", "when", "then", "else"})
_BOUNDS: Final = frozenset({"and", "or", ",", "end"}) | _CASE


def is_moment(tokens: Sequence[Token], at: int, times: Collection[str]) -> bool:
    """Return whether a text is a word like 'now', and Spark may take it for a time; `times` are columns with times.

    Looks at the part of the expression that the text belongs to, then at the part that has the value of this one, until
    a condition or the expression ends; what is nested deeper than anybody writes counts as a time.
    """
    if not _MOMENT.match(tokens[at].text):
        return False
    begin, end = at, at + 1
    for _ in range(_DEEPEST):
        begin, end = _part(tokens, begin, end)
        part = tokens[begin:end]
        own = [part[place] for place in own_level(part)]
        if _has_type(own):
            return True
        if _is_condition(own):
            return _has_time(part, times)
        before = tokens[begin - 1].text if begin else ""
        if before in _CASE:
            begin, end = _case(tokens, begin, end)
            if _has_time(tokens[begin:end], times):
                return True
            continue
        begin, end = _bracket(tokens, begin, end)
        if begin < 0:
            return False
        function = tokens[begin - 1].text if begin else ""
        if function in _OF_TIMES or (function in _ALIKE and _has_time(tokens[begin:end], times)):
            return True
        if function in _OTHERS and tokens[begin - 1].kind == "word":
            return False
    return True


def _part(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int]:
    """Widen a part up to the brackets, commas and words that bound it."""
    begin, end = _edge(tokens, begin - 1, -1) + 1, _edge(tokens, end, 1)
    return begin, end


def _edge(tokens: Sequence[Token], at: int, step: int) -> int:
    """Return the place of the next bound from a place on, in either direction."""
    depth = 0
    while 0 <= at < len(tokens):
        depth += tokens[at].depth * step
        if depth < 0 or (depth == 0 and _is_bound(tokens, at)):
            return at
        at += step
    return at


def _is_bound(tokens: Sequence[Token], at: int) -> bool:
    if tokens[at].text != "and":
        return tokens[at].text in _BOUNDS and tokens[at].kind != "text"
    # That of BETWEEN … AND … bounds nothing.
    depth = 0
    for token in reversed(tokens[:at]):
        depth -= token.depth
        if depth < 0 or (depth == 0 and token.text in ("and", "or")):
            return True
        if depth == 0 and token.text == "between":
            return False
    return True


def _bracket(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int]:
    """Return the bracket around a part, with both ends; begins at -1 if there is none."""
    depth = 0
    while begin >= 0 and depth <= 0:
        begin -= 1
        depth += tokens[begin].depth if begin >= 0 else 0
    depth = 0
    while end < len(tokens) and depth >= 0:
        depth += tokens[end].depth
        end += 1
    return begin, end


def _case(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int]:
    """Return the CASE … END around a part."""
    depth = 1
    while begin > 0 and depth:
        begin -= 1
        depth += (tokens[begin].text == "end") - (tokens[begin].text == "case")
    depth = 1
    while end < len(tokens) and depth:
        depth += (tokens[end].text == "case") - (tokens[end].text == "end")
        end += 1
    return begin, end


def _is_condition(own: Sequence[Token]) -> bool:
    texts = [token.text for token in own]
    # That of a lambda compares nothing.
    return any(
        text in _COMPARING and not (text == ">" and place and texts[place - 1] == "-")
        for place, text in enumerate(texts)
    )


def _has_type(own: Sequence[Token]) -> bool:
    """Return whether a part is a sum with an interval, or written or cast as a time: `date 'now'`, `'now'::date`."""
    texts = [token.text for token in own]
    return "interval" in texts or any(
        text in _TYPES and (texts[place - 1] == "as" or texts[:place][-2:] == [":", ":"] or _is_literal(own, place))
        for place, text in enumerate(texts)
    )


def _is_literal(own: Sequence[Token], place: int) -> bool:
    return place + 1 < len(own) and own[place + 1].kind == "text"


def _has_time(part: Sequence[Token], times: Collection[str]) -> bool:
    """Return whether something in a part is a time, as far as names tell."""
    for place, token in enumerate(part):
        before = [each.text for each in part[max(0, place - 2) : place]]
        if before[-1:] == ["."] or (before[-1:] == [":"] and before != [":", ":"]):
            continue
        name = token.text.strip("`").lower() if token.kind in ("word", "name") else ""
        is_call = place + 1 < len(part) and part[place + 1].text == "("
        if name in times or name in _TYPES or name == "interval" or (name in _OF_TIMES and is_call):
            return True
    return False
