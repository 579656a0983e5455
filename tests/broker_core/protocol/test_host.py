"""Addresses with ports as bytes and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import MalformedHost
from broker_core.protocol.host import decode_host, encode_host, parse_host, split_host

HOSTS = [
    ("10.0.0.9", 51234, "0a0000090000c822", "10.0.0.9:51234"),
    ("10.0.0.5", 10911, "0a00000500002a9f", "10.0.0.5:10911"),
    ("fe80::1", 7, "fe80000000000000000000000000000100000007", "[fe80::1]:7"),
    ("::1", 10911, "0000000000000000000000000000000100002a9f", "[::1]:10911"),
]


@pytest.mark.parametrize(("ip", "port", "data", "text"), HOSTS)
def test_hosts_go_both_ways(ip: str, port: int, data: str, text: str) -> None:
    encoded = bytes.fromhex(data)
    assert encode_host(ip, port) == encoded
    assert decode_host(encoded) == text
    assert split_host(encoded) == (ip, port)
    assert parse_host(text) == (ip, port)


def test_the_zone_of_a_link_local_address_is_left_out() -> None:
    assert encode_host("fe80::1%eth0", 7) == encode_host("fe80::1", 7)


@pytest.mark.parametrize(
    ("ip", "port"), [("localhost", 1), ("", 1), ("1.2.3", 1), ("1.2.3.4", -1), ("1.2.3.4", 1 << 32)]
)
def test_names_and_impossible_ports_are_refused(ip: str, port: int) -> None:
    with pytest.raises(MalformedHost):
        encode_host(ip, port)


@pytest.mark.parametrize("text", ["", "1.2.3.4", "1.2.3.4:", ":x", "1.2.3.4:8a"])
def test_text_without_a_port_is_refused(text: str) -> None:
    with pytest.raises(MalformedHost):
        parse_host(text)


def test_only_8_or_20_bytes_are_a_host() -> None:
    with pytest.raises(MalformedHost):
        split_host(b"\x0a\x00\x00\x01\x00\x00")


@given(st.ip_addresses(), st.integers(0, 0x7FFFFFFF))
def test_any_host_comes_back(ip: object, port: int) -> None:
    assert split_host(encode_host(str(ip), port)) == (str(ip), port)
