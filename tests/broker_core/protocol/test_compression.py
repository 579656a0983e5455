"""Compressed bodies."""

from __future__ import annotations

import zlib

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import compression
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.compression import compress, decompress
from broker_core.protocol.errors import MalformedCompression, UnknownCompression

COMPRESSORS = [0, flags.COMPRESSOR_ZLIB, flags.COMPRESSOR_LZ4, flags.COMPRESSOR_ZSTD]
BODY = b"z" * 6000


def test_zlib_is_what_java_writes() -> None:
    packed = compress(BODY, 0)
    assert len(packed) == 29
    assert packed.startswith(b"\x78\x5e")


@pytest.mark.parametrize("compressor", COMPRESSORS)
@given(body=st.binary(max_size=2000))
def test_every_compressor_gives_the_body_back(compressor: int, body: bytes) -> None:
    sys_flag = compressor | flags.COMPRESSED
    assert decompress(compress(body, sys_flag), sys_flag) == body


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_a_body_not_marked_as_compressed_stays_as_it_is(compressor: int) -> None:
    assert decompress(b"plain", compressor) == b"plain"


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_a_body_that_unpacks_to_too_much_is_refused(compressor: int) -> None:
    sys_flag = compressor | flags.COMPRESSED
    packed = compress(BODY, sys_flag)
    assert decompress(packed, sys_flag, max_bytes=6000) == BODY
    with pytest.raises(MalformedCompression):
        decompress(packed, sys_flag, max_bytes=5999)


def test_what_does_not_unpack_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []

    def unpack(body: bytes, limit: int) -> bytes:
        unpacked.append(len(body))
        return zlib.decompressobj().decompress(body, limit)

    monkeypatch.setitem(compression._UNPACK, flags.COMPRESSOR_ZLIB, unpack)
    sys_flag = flags.COMPRESSED | flags.COMPRESSOR_ZLIB
    bomb, other = zlib.compress(bytes(8_000_000)), zlib.compress(bytes(8_000_001))
    for body in (bomb, bomb, other, bomb):
        with pytest.raises(MalformedCompression, match=f"{len(body)} bytes unpacks to more than 1000"):
            decompress(body, sys_flag, max_bytes=1000)
    assert len(unpacked) == 2
    # What was refused for one limit is none of another's business
    assert len(decompress(bomb, sys_flag)) == 8_000_000


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_a_body_that_is_cut_off_is_refused(compressor: int) -> None:
    sys_flag = compressor | flags.COMPRESSED
    packed = compress(bytes(range(256)) * 8, sys_flag)
    for length in (0, 1, len(packed) // 2, len(packed) - 1):
        with pytest.raises(MalformedCompression):
            decompress(packed[:length], sys_flag)


def test_a_zstandard_stream_without_announced_size_unpacks() -> None:
    packer = zstandard.ZstdCompressor().compressobj()
    packed = packer.compress(BODY) + packer.flush()
    sys_flag = flags.COMPRESSED | flags.COMPRESSOR_ZSTD
    assert zstandard.frame_content_size(packed) == -1
    assert decompress(packed, sys_flag) == BODY
    with pytest.raises(MalformedCompression):
        decompress(packed, sys_flag, max_bytes=100)


def test_the_wrong_compressor_is_refused() -> None:
    with pytest.raises(MalformedCompression):
        decompress(zlib.compress(BODY), flags.COMPRESSED | flags.COMPRESSOR_LZ4)
    with pytest.raises(MalformedCompression):
        decompress(lz4.frame.compress(BODY), flags.COMPRESSED)


def test_an_undefined_compressor_is_refused() -> None:
    with pytest.raises(UnknownCompression):
        decompress(BODY, flags.COMPRESSED | 0x400)
    with pytest.raises(UnknownCompression):
        compress(BODY, 0x700)
