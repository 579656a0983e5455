"""Which connections are from this machine, or from a network that is named."""

from __future__ import annotations

import pytest

from broker_core.protocol.networks import Networks


@pytest.mark.parametrize(
    ("peer", "local"),
    [
        ("127.0.0.1:50000", "127.0.0.1:10911"),
        ("127.8.9.10:50000", "127.0.0.1:10911"),
        ("[::1]:50000", "[::1]:10911"),
        ("[::ffff:127.0.0.1]:50000", "[::ffff:127.0.0.1]:10911"),
        ("10.6.10.11:50000", "10.6.10.11:10911"),
        ("[::ffff:10.6.10.11]:50000", "10.6.10.11:10911"),
        ("[fe80::7%eth0]:50000", "[fe80::7%eth0]:10911"),
    ],
)
def test_this_machine_is_always_admitted(peer: str, local: str) -> None:
    assert Networks().admit(peer, local)


@pytest.mark.parametrize(
    ("peer", "local"),
    [
        ("10.6.10.12:50000", "10.6.10.11:10911"),
        ("[fd00::8]:50000", "[fd00::7]:10911"),
        ("", ""),
        ("/run/a.sock", "/run/a.sock"),
        ("unknown:1", "unknown:2"),
    ],
)
def test_others_are_not(peer: str, local: str) -> None:
    assert not Networks().admit(peer, local)


def test_networks_and_single_addresses_are_named_in_a_list() -> None:
    named = Networks.parse(" 10.20.0.0/16, fd00::7 ,,192.0.2.9")

    assert named.text == "10.20.0.0/16,fd00::7/128,192.0.2.9/32"
    assert Networks.parse(named.text) == named
    assert Networks.parse("10.20.3.4/16").text == "10.20.0.0/16"
    for peer in ("10.20.255.1:1", "[fd00::7]:1", "[::ffff:10.20.0.1]:1", "192.0.2.9:1"):
        assert named.admit(peer, "10.6.10.11:10911")
    for peer in ("10.21.0.1:1", "[fd00::8]:1", "192.0.2.8:1"):
        assert not named.admit(peer, "10.6.10.11:10911")


def test_an_empty_list_is_this_machine_alone() -> None:
    assert Networks.parse(" , ") == Networks()


@pytest.mark.parametrize("text", ["10.0.0.0/33", "localhost", "10.0.0", "10.0.0.0/8;10.1.0.0/16", "*"])
def test_what_is_no_network_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address or a network such as"):
        Networks.parse(text)
