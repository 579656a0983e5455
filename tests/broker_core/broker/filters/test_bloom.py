"""Bloom filters with RocketMQ's geometry and hash."""

from __future__ import annotations

import pytest

from broker_core.broker.filters.bloom import Bloom, murmur3

BLOOM = Bloom.of(error_percent=20, consumers=32)


@pytest.mark.parametrize(
    ("error_percent", "consumers", "places", "bits"),
    [(20, 32, 3, 112), (20, 64, 3, 216), (10, 128, 4, 616), (99, 1, 1, 8)],
)
def test_the_geometry_follows_from_errors_and_consumers(
    error_percent: int, consumers: int, places: int, bits: int
) -> None:
    assert Bloom.of(error_percent=error_percent, consumers=consumers) == (places, bits)


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        (b"CG#TopicTest", 0x729683ED3CC0E7A5),
        (b"g#t", 0xB819D98ED694BACB),
        (b"", 0),
        (b"The quick brown fox jumps over the lazy dog", 0xE34BBC7BBC071B6C),
    ],
)
def test_the_hash_is_that_of_guava(text: bytes, hashed: int) -> None:
    assert murmur3(text) == hashed


def test_a_group_has_its_places_and_bits() -> None:
    assert BLOOM.places_of("CG", "TopicTest") == (109, 15, 3)
    assert BLOOM.places_of("g", "t") == (22, 87, 58)
    assert BLOOM.bytes_of((109, 15, 3)).hex() == "0880000000000000000000000020"
