"""Headers in both forms and of every class: damaged ones raise the right error."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol import fastjson, fields, header_binary, header_json
from broker_core.protocol.errors import HeaderError, MalformedBody, MalformedHeader
from tests.fuzz import samples
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate, mutate_text

KINDS: Final = samples.header_kinds()


def ext_fields(random: Random) -> dict[str, str]:
    """Return the text form of a random header."""
    return fields.encode(samples.sample(random, random.choice(KINDS)))


def head(random: Random) -> tuple[int, dict[str, str], int, int, str | None, int, int]:
    """Return the arguments of either encoder."""
    remark = random.choice((None, "", "not found", "é"))
    return random.choice((10, 310, 34, 0, 7)), ext_fields(random), random.choice(samples.NUMBERS), 0, remark, 5, 409


def test_damaged_json_headers() -> None:
    def case(random: Random) -> None:
        code, found, opaque, flag, _, language, version = header_json.decode(
            mutate(random, header_json.encode(*head(random)))
        )
        assert all(type(name) is str and type(value) is str for name, value in found.items())
        assert all(type(number) is int for number in (code, opaque, flag, language, version))

    run_cases(25_000, case, named=MalformedHeader)


def test_damaged_binary_headers() -> None:
    def case(random: Random) -> None:
        _, found, _, _, _, _, _ = header_binary.decode(mutate(random, header_binary.encode(*head(random))))
        assert all(type(name) is str and type(value) is str for name, value in found.items())

    run_cases(25_000, case, named=MalformedHeader)


def test_what_a_damaged_header_says_can_be_written_again() -> None:
    def case(random: Random) -> None:
        parts = header_json.decode(mutate(random, header_json.encode(*head(random))))
        assert header_json.decode(header_json.encode(*parts))[1] == parts[1]

    run_cases(5_000, case, named=MalformedHeader)


def test_every_header_class_from_damaged_fields() -> None:
    def case(random: Random) -> None:
        kind = random.choice(KINDS)
        found = fields.encode(samples.sample(random, kind))
        for name in list(found):
            if random.random() < 0.3:
                found[name] = mutate_text(random, found[name], samples.TEXTS)
            elif random.random() < 0.1:
                del found[name]
        header: object = fields.decode(kind, found)
        assert fields.decode(kind, fields.encode(header)) == header

    run_cases(25_000, case, named=HeaderError)


def test_every_header_class_survives_its_text_form() -> None:
    def case(random: Random) -> None:
        header: object = samples.sample(random, random.choice(KINDS))
        assert fields.decode(type(header), fields.encode(header)) == header

    run_cases(2_000, case, named=())


def trees() -> st.SearchStrategy[Any]:
    """Return JSON trees, including those with unusual keys and numbers."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    return st.recursive(
        plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    )


@given(
    st.dictionaries(st.sampled_from(["code", "opaque", "flag", "version", "language", "remark", "extFields"]), trees())
)
@settings(max_examples=300)
def test_a_header_of_other_types_is_read_or_refused(tree: dict[str, Any]) -> None:
    try:
        header_json.decode(fastjson.dumps(tree))
    except (MalformedHeader, MalformedBody):
        return


@given(st.text(alphabet="{}[]\"',:\\ \n0123456789.eE+-truefalsn$ref", max_size=200))
@settings(max_examples=500)
def test_the_tolerant_reader_reads_or_refuses(text: str) -> None:
    try:
        fastjson.loads(text.encode())
    except MalformedBody:
        return
