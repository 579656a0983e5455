"""Patterns of addresses: the forms of Apache RocketMQ, what they mean, and what is refused."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.addresses import AddressPattern, parts_of


def matches(text: str, ip: str) -> bool:
    peer = f"[{ip}]:5000" if ":" in ip else f"{ip}:5000"
    return AddressPattern.parse(text).matches(parts_of(peer))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("10.0.0.7", ["10.0.0.7"], ["10.0.0.8", "10.0.0.70", "::7"]),
        ("192.168.1.{10,100}", ["192.168.1.10", "192.168.1.100"], ["192.168.1.1", "192.168.1.11", "192.168.2.10"]),
        ("10.0.0.1,10.0.0.2", ["10.0.0.1", "10.0.0.2"], ["10.0.0.3"]),
        ("192.168.*.*", ["192.168.0.0", "192.168.255.255"], ["192.169.0.1", "191.168.0.1"]),
        ("10.0.0.1-100", ["10.0.0.1", "10.0.0.100"], ["10.0.0.0", "10.0.0.101"]),
        ("10.0.1-5.*", ["10.0.1.0", "10.0.5.255"], ["10.0.0.9", "10.0.6.1"]),
        ("*", ["1.2.3.4", "::1"], []),
        ("*.*.*.*", ["1.2.3.4"], []),
        ("", [], ["127.0.0.1", "::1"]),
        ("5::7:6:1-200:*", ["5::7:6:1:0", "5::7:6:200:ffff"], ["5::7:6:201:0", "5::7:5:1:0", "5.7.6.1"]),
        ("2001:db8::{1,a}", ["2001:db8::1", "2001:0db8:0:0:0:0:0:a"], ["2001:db8::2"]),
        ("::1", ["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]),
        ("10.0.0.1", ["::ffff:10.0.0.1"], ["::ffff:10.0.0.2"]),
    ],
)
def test_what_a_pattern_means(text: str, inside: list[str], outside: list[str]) -> None:
    assert [ip for ip in inside if not matches(text, ip)] == []
    assert [ip for ip in outside if matches(text, ip)] == []


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.x", "10.0.0.5-1", "10.0.0.-5", "10.0.0.{1,2", "{10,11}.0.0.1",
        "10.0.0.1,", "1:2:3", "1::2::3", "12345::", "10.0.0.{}", "localhost", "10.0.0.1/24", "10.0.{0,1}.1",
        "\u0661.1.1.1",
    ],
)  # fmt: skip
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        AddressPattern.parse(text)


@given(st.ip_addresses(), st.ip_addresses())
def test_one_address_is_itself_and_no_other(one: ipaddress.IPv4Address, other: ipaddress.IPv4Address) -> None:
    assert matches(str(one), str(one))
    assert matches(str(one), str(other)) == (parts_of(f"[{one}]:1") == parts_of(f"[{other}]:1"))


def test_a_peer_without_an_address_matches_only_everyone() -> None:
    assert parts_of("") is None
    assert AddressPattern.parse("*").matches(None)
    assert not AddressPattern.parse("10.*.*.*").matches(None)
