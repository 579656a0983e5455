"""Compressed bodies: zlib, LZ4 frame and Zstandard, selected by the sys flag (protocol/README.md#sys-flag)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import lz4.frame
import zstandard

from broker_core.protocol import sys_flag as flags
from broker_core.protocol.errors import MalformedCompression, UnknownCompression

ZLIB_LEVEL: Final = 5  # the level of Java producers
# Up to sixteen times the default limit of a body: producers with a higher one pack before they send, and brokers
# limit what is packed. Anything larger is treated as an attack.
MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
# What does not unpack is delivered again and again, and to find that out takes as long as to unpack `max_bytes`.
_REMEMBERED: Final = 1_024
_WORTH_REMEMBERING: Final = 4_096


def compress(body: bytes, sys_flag: int) -> bytes:
    """Return the body compressed as bits 8-10 of `sys_flag` specify; raise UnknownCompression."""
    return _PACK[_compressor(sys_flag)](body)


def decompress(body: bytes, sys_flag: int, *, max_bytes: int = MAX_UNPACKED_BYTES) -> bytes:
    """Return the decompressed body, or the body itself if the sys flag marks it as uncompressed.

    Raises UnknownCompression for an undefined compressor, MalformedCompression for bytes that cannot be decompressed or
    that decompress to more than `max_bytes`.
    """
    if not sys_flag & flags.COMPRESSED:
        return body
    compressor = _compressor(sys_flag)
    if not _refused or len(body) < _WORTH_REMEMBERING:
        return _unpacked(body, compressor, max_bytes)
    refusal = _refused.get(_refusal_key(body, compressor, max_bytes))
    if refusal is not None:
        raise MalformedCompression(refusal)
    return _unpacked(body, compressor, max_bytes)


def _unpacked(body: bytes, compressor: int, max_bytes: int) -> bytes:
    try:
        return _bounded(body, compressor, max_bytes)
    except MalformedCompression as error:
        if len(body) >= _WORTH_REMEMBERING:
            if len(_refused) >= _REMEMBERED:
                _refused.clear()
            _refused[_refusal_key(body, compressor, max_bytes)] = str(error)
        raise


def _bounded(body: bytes, compressor: int, max_bytes: int) -> bytes:
    try:
        unpacked = _UNPACK[compressor](body, max_bytes + 1)
    except (zlib.error, RuntimeError, EOFError, zstandard.ZstdError) as error:
        raise MalformedCompression(f"a compressed body of {len(body)} bytes does not unpack: {error}") from error
    if len(unpacked) > max_bytes:
        raise MalformedCompression(f"a compressed body of {len(body)} bytes unpacks to more than {max_bytes}")
    return unpacked


_refused: Final[dict[tuple[bytes, int, int], str]] = {}
"""Why bodies did not unpack, by their hash, their compressor and the limit."""


def _refusal_key(body: bytes, compressor: int, max_bytes: int) -> tuple[bytes, int, int]:
    return blake2b(body, digest_size=16).digest(), compressor, max_bytes


def _compressor(sys_flag: int) -> int:
    compressor = sys_flag & flags.COMPRESSOR_MASK
    if compressor not in _PACK:
        raise UnknownCompression(f"compressor {compressor >> 8} is not defined")
    return compressor


def _unpack_zlib(body: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(body, limit)
    if not unpacker.eof and len(unpacked) < limit:
        raise EOFError("the zlib stream ends too early")
    return unpacked


def _unpack_lz4(body: bytes, limit: int) -> bytes:
    unpacker = lz4.frame.LZ4FrameDecompressor()
    unpacked: bytes = unpacker.decompress(body, limit)
    if not unpacker.eof and len(unpacked) < limit:
        raise EOFError("the LZ4 frame ends too early")
    return unpacked


def _unpack_zstd(body: bytes, limit: int) -> bytes:
    announced = zstandard.frame_content_size(body)
    if announced >= limit:
        raise EOFError(f"the Zstandard frame announces {announced} bytes")
    return zstandard.ZstdDecompressor().decompress(body, max_output_size=limit)


def _pack_zlib(body: bytes) -> bytes:
    return zlib.compress(body, ZLIB_LEVEL)


def _pack_lz4(body: bytes) -> bytes:
    packed: bytes = lz4.frame.compress(body)
    return packed


def _pack_zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


# Old clients use zlib and leave the compressor bits empty.
_PACK: Final[dict[int, Callable[[bytes], bytes]]] = {
    0: _pack_zlib,
    flags.COMPRESSOR_ZLIB: _pack_zlib,
    flags.COMPRESSOR_LZ4: _pack_lz4,
    flags.COMPRESSOR_ZSTD: _pack_zstd,
}
_UNPACK: Final[dict[int, Callable[[bytes, int], bytes]]] = {
    0: _unpack_zlib,
    flags.COMPRESSOR_ZLIB: _unpack_zlib,
    flags.COMPRESSOR_LZ4: _unpack_lz4,
    flags.COMPRESSOR_ZSTD: _unpack_zstd,
}
