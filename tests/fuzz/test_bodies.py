"""Every JSON body, and registrations in both forms: damaged ones raise the right error."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import Final

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.registration import decode_registration
from broker_core.protocol.errors import MalformedBody
from tests.fuzz import samples
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate

KINDS: Final = samples.body_kinds()


def test_every_body_class_from_damaged_text() -> None:
    def case(random: Random) -> None:
        kind = random.choice(KINDS)
        texts = [bodies.encode(samples.sample(random, kind)), bodies.encode_strict(samples.sample(random, kind))]
        bodies.decode(kind, mutate(random, random.choice(texts), texts))

    run_cases(20_000, case, named=MalformedBody)


def test_a_body_of_another_class_is_read_or_refused() -> None:
    def case(random: Random) -> None:
        data = bodies.encode(samples.sample(random, random.choice(KINDS)))
        body: object = bodies.decode(random.choice(KINDS), data)
        bodies.encode(body)
        bodies.encode_strict(body)

    run_cases(4_000, case, named=MalformedBody)


def test_every_body_class_survives_its_text() -> None:
    def case(random: Random) -> None:
        body: object = samples.sample(random, random.choice(KINDS))
        assert bodies.decode(type(body), bodies.encode(body)) == body
        assert bodies.decode(type(body), bodies.encode_strict(body)) == body

    run_cases(2_000, case, named=())


def registration(random: Random, topics: int) -> bytes:
    """Return the uncompressed content of a compressed registration."""
    texts = [f"orders-{number} 4 4 6 SINGLE_TAG" for number in range(topics)]
    parts = [b'{"counter":1,"timestamp":2}', struct.pack(">i", topics), *(text.encode() for text in texts), b"[]"]
    return b"".join(part if at == 1 else struct.pack(">i", len(part)) + part for at, part in enumerate(parts))


def test_damaged_registrations() -> None:
    def case(random: Random) -> None:
        stream = mutate(random, registration(random, random.randrange(4)))
        packed = zlib.compress(stream, 1)
        decode_registration(mutate(random, packed) if random.random() < 0.3 else packed, compressed=True)

    run_cases(8_000, case, named=MalformedBody)


def test_a_registration_that_unpacks_to_too_much_is_refused() -> None:
    bomb = zlib.compress(bytes(80 * 1024 * 1024))
    with pytest.raises(MalformedBody):
        decode_registration(bomb, compressed=True)


def test_references_that_stand_for_too_much_are_refused() -> None:
    zeros, references = ",".join("0" * 2000), ",".join(['{"$ref":"$.a"}'] * 2000)
    with pytest.raises(MalformedBody, match="references"):
        bodies.decode(bodies.KVTable, f'{{"a":[{zeros}],"table":[{references}]}}'.encode())
