"""Requirements of `gateway.auth`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from console.accounts.rights import Resource
from gateway.auth import TOKEN_CACHE_SECONDS, Authenticator, Principal
from gateway.problems import CSRF_FAILED, FORBIDDEN, NOT_AUTHENTICATED, ProblemError, ProblemKind

ADMIN = Principal(1, "ada", "admin")
DEVELOPER = Principal(2, "dev", "developer", ("produce:orders*", "read"), token_id=7)


class Tokens:
    """A table of tokens that counts its look-ups."""

    def __init__(self, **known: Principal) -> None:
        self.known = known
        self.asked = 0

    async def find(self, text: str, address: str) -> Principal | None:
        self.asked += 1
        await asyncio.sleep(0)
        return self.known.get(text)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def bearer(token: str) -> dict[bytes, bytes]:
    return {b"authorization": b"Bearer " + token.encode()}


async def refused(authenticator: Authenticator, headers: Mapping[bytes, bytes]) -> ProblemKind:
    with pytest.raises(ProblemError) as caught:
        await authenticator.of_request(headers)
    return caught.value.kind


def test_a_role_without_token_may_what_its_verbs_say() -> None:
    assert ADMIN.may("admin")
    assert not Principal(3, "vic", "viewer").may("produce", Resource("topic", "orders"))


def test_a_token_narrows_the_role_to_names() -> None:
    assert DEVELOPER.may("produce", Resource("topic", "orders-eu"))
    assert not DEVELOPER.may("produce", Resource("topic", "payments"))
    assert not DEVELOPER.may("consume", Resource("topic", "orders"))
    with pytest.raises(ProblemError) as caught:
        DEVELOPER.require("produce", Resource("topic", "payments"))
    assert caught.value.kind is FORBIDDEN
    assert "'payments'" in caught.value.detail


def test_a_token_never_exceeds_the_role() -> None:
    assert not Principal(3, "vic", "viewer", ("produce", "admin"), 9).may("produce", Resource("topic", "orders"))


def test_rates_are_counted_by_token_or_by_user() -> None:
    assert (ADMIN.key, DEVELOPER.key) == ("u1", "t7")


async def test_a_token_is_looked_up_once_in_its_cache_time() -> None:
    tokens, clock = Tokens(a=ADMIN), Clock()
    authenticator = Authenticator(tokens.find, clock=clock)
    assert authenticator.cached(b"Bearer a") is None
    assert await authenticator.of_request(bearer("a")) is ADMIN
    assert authenticator.cached(b"Bearer a") is ADMIN
    assert await authenticator.of_request(bearer("a")) is ADMIN
    assert tokens.asked == 1
    clock.now += TOKEN_CACHE_SECONDS
    assert authenticator.cached(b"Bearer a") is None
    await authenticator.of_request(bearer("a"))
    assert tokens.asked == 2


async def test_a_revoked_token_stops_working_when_its_cache_time_is_over() -> None:
    tokens, clock = Tokens(a=ADMIN), Clock()
    authenticator = Authenticator(tokens.find, clock=clock)
    await authenticator.of_request(bearer("a"))
    del tokens.known["a"]
    clock.now += TOKEN_CACHE_SECONDS
    assert await refused(authenticator, bearer("a")) is NOT_AUTHENTICATED


async def test_many_requests_with_one_new_token_share_a_look_up() -> None:
    tokens = Tokens(a=ADMIN)
    authenticator = Authenticator(tokens.find)
    found = await asyncio.gather(*(authenticator.of_request(bearer("a")) for _ in range(50)))
    assert found == [ADMIN] * 50
    assert tokens.asked == 1


async def test_an_unknown_token_is_remembered_too() -> None:
    tokens = Tokens()
    authenticator = Authenticator(tokens.find)
    assert await refused(authenticator, bearer("x")) is NOT_AUTHENTICATED
    assert await refused(authenticator, bearer("x")) is NOT_AUTHENTICATED
    assert tokens.asked == 1


async def test_a_flood_of_wrong_tokens_does_not_grow_the_memory_without_bound() -> None:
    authenticator = Authenticator(Tokens().find, clock=Clock())
    for number in range(10_050):
        await refused(authenticator, bearer(str(number)))
    assert len(authenticator._cache) <= 10_000


@pytest.mark.parametrize("value", [b"", b"Bearer", b"Bearer ", b"Basic YTpi", b"Bearer " + b"x" * 300, b"\xff\xfe"])
async def test_what_is_no_bearer_token_is_refused_without_a_look_up(value: bytes) -> None:
    tokens = Tokens()
    assert await refused(Authenticator(tokens.find), {b"authorization": value}) is NOT_AUTHENTICATED
    assert tokens.asked == 0


async def ada_is_signed_in(_: Mapping[bytes, bytes]) -> Principal | None:
    return ADMIN


async def test_a_session_counts_with_its_csrf_token_alone() -> None:
    passed = False
    authenticator = Authenticator(Tokens().find, find_session=ada_is_signed_in, csrf_passed=lambda _: passed)
    assert await refused(authenticator, {}) is CSRF_FAILED
    passed = True
    assert await authenticator.of_request({}) is ADMIN


async def test_a_change_from_another_site_is_not_asked_for_a_token_that_it_has() -> None:
    authenticator = Authenticator(Tokens().find, find_session=ada_is_signed_in, allowed_origin=lambda _: False)
    with pytest.raises(ProblemError, match="Origin 'https://mars' is not one of this installation") as refusal:
        await authenticator.of_request({b"origin": b"https://mars", b"x-csrftoken": b"right"})
    assert refusal.value.kind is CSRF_FAILED


async def test_a_socket_carries_no_csrf_token_so_its_origin_counts() -> None:
    authenticator = Authenticator(Tokens().find, find_session=ada_is_signed_in, allowed_origin=lambda _: True)
    assert await authenticator.of_socket({}, b"") is ADMIN


async def test_a_request_without_any_sign_of_its_sender_is_refused() -> None:
    assert await refused(Authenticator(Tokens().find), {}) is NOT_AUTHENTICATED


async def test_a_ticket_opens_one_socket() -> None:
    tickets = {"t1": ADMIN}

    async def redeem(text: str) -> Principal | None:
        return tickets.pop(text, None)

    authenticator = Authenticator(Tokens().find, redeem_ticket=redeem)
    assert await authenticator.of_socket({}, b"ticket=t1") is ADMIN
    with pytest.raises(ProblemError) as caught:
        await authenticator.of_socket({}, b"ticket=t1")
    assert caught.value.kind is NOT_AUTHENTICATED


async def test_a_foreign_page_cannot_open_a_socket_with_somebodys_cookies() -> None:
    authenticator = Authenticator(Tokens().find, find_session=ada_is_signed_in, allowed_origin=lambda _: False)
    with pytest.raises(ProblemError) as caught:
        await authenticator.of_socket({b"origin": b"https://evil.example"}, b"")
    assert caught.value.kind is FORBIDDEN
