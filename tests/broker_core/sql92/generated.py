"""Expressions and properties for tests: every form of the grammar, and values on both sides of each rule."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "_x$1", "Price")
VALUES = (
    "5", "05", "+5", "-5", "5.5", "5.0", "3000000000", "-2147483649", "9223372036854775808", "x", "", "true", "TRUE",
    "false", "NaN", "-Infinity", "1e3", "5d", "0x1p3", " 5", "5 ", "1_0", "\u0663", "it's", "eu", "europe", "0",
    "-0.0", ".",
)  # fmt: skip

properties = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES).filter(bool), max_size=4)

_property = st.sampled_from(NAMES)
_text = st.sampled_from(("'x'", "'eu'", "''", "'it''s'", "'5'", "'5.5'", "'true'"))
numbers = st.sampled_from(
    ("0", "1", "5", "-5", "+5", "5L", "- -5", "2147483647", "2147483648", "3000000000", "5.5", "5.", ".5", "1E3", "5.0",
     "9223372036854775807", "9223372036854775808", "0.0", "1e400", "-3000000000l")
)  # fmt: skip
_constant = st.sampled_from(("TRUE", "false", "NULL"))
_order = st.sampled_from((">", ">=", "<", "<="))


def _operand(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        _property, _property, numbers, numbers, _text, _constant, inner.map("({})".format), inner.map("-({})".format)
    )


def _condition(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    side = _operand(inner)
    negated = st.sampled_from(("", "NOT "))
    texts = st.lists(_text, min_size=1, max_size=6).map(", ".join)
    return st.one_of(
        st.builds("{} = {}".format, side, side),
        st.builds("{} <> {}".format, side, side),
        st.builds("{} {} {}".format, side, _order, side),
        st.builds("{} {} {}".format, _property, _order, numbers),
        st.builds("{} {}BETWEEN {} AND {}".format, side, negated, side, side),
        st.builds("{} {}IN ({})".format, _property, negated, texts),
        st.builds("{} {}{} {}".format, side, negated, st.sampled_from(("CONTAINS", "STARTSWITH", "endswith")), _text),
        st.builds("{} IS {}NULL".format, side, negated),
        st.builds("NOT {}".format, side),
        st.builds("NOT ({})".format, inner),
        st.builds("{} AND {}".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
        st.builds("({}) OR {} AND {}".format, inner, inner, inner),
        side,
    )


_leaf = st.one_of(
    _property,
    st.builds("{} = {}".format, _property, st.one_of(numbers, _text, _constant)),
    st.builds("{} {} {}".format, _property, _order, numbers),
    _constant,
)
expressions = st.recursive(_leaf, _condition, max_leaves=6)
"""Texts of expressions, most of which are legal."""
