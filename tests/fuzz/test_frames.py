"""The stream: the same frames however it is split, and damage ends it with a named error."""

from __future__ import annotations

from random import Random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.frame import Frame, FrameReader
from tests.fuzz import samples
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate

MAX_FRAME: Final = 4096
REQUESTS: Final = [kind for kind in samples.header_kinds() if hasattr(kind, "CODE")]


def frame(random: Random) -> bytes:
    """Return the frame of a random request, in either header form."""
    header = samples.sample(random, random.choice(REQUESTS))
    command = Command.request(header, random.randbytes(random.choice((0, 1, 20))))
    command.opaque = random.choice(samples.NUMBERS)
    command.serializer = 0 if command.code > 0x7FFF else random.randrange(2)
    return command.encode()


def cut(reader: FrameReader, pieces: list[bytes]) -> tuple[list[Frame], str | None]:
    """Return the frames of a stream that arrives in pieces, and the fault that ended it."""
    frames: list[Frame] = []
    for piece in pieces:
        frames += reader.feed(piece)
        if reader.fault is not None:
            return frames, type(reader.fault).__name__
        assert reader.buffered <= MAX_FRAME
    return frames, None


def in_pieces(random: Random, data: bytes) -> list[bytes]:
    """Return `data` split at some places, sometimes at every byte."""
    if random.random() < 0.1:
        return [data[at : at + 1] for at in range(len(data))]
    places = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(6)))
    return [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]


def test_a_stream_is_cut_alike_however_it_arrives() -> None:
    def case(random: Random) -> None:
        data = b"".join(frame(random) for _ in range(random.randrange(1, 4)))
        if random.random() < 0.7:
            data = mutate(random, data)
        whole = cut(FrameReader(MAX_FRAME), [data])
        assert cut(FrameReader(MAX_FRAME), in_pieces(random, data)) == whole

    run_cases(30_000, case, named=())


def test_a_damaged_frame_is_a_command_or_a_named_error() -> None:
    def case(random: Random) -> None:
        data = mutate(random, frame(random), [frame(random)])
        reader = FrameReader(MAX_FRAME)
        for each in reader.feed(data):
            Command.decode(each)
        if reader.fault is not None:
            raise reader.fault

    run_cases(30_000, case, named=ProtocolError)


@given(st.lists(st.binary(max_size=64), max_size=20))
@settings(max_examples=400)
def test_noise_is_never_kept_beyond_one_frame(pieces: list[bytes]) -> None:
    cut(FrameReader(MAX_FRAME), pieces)
