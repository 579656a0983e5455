"""Posts a delivery to a URL, signed.

``Gantry-Signature: t=<seconds>,v1=<hex>`` is the HMAC-SHA256 of ``<seconds>.<body>`` with the channel's secret. After
a change of the secret a second `v1` has the former one's, for a while.
Redirects are not followed: they would lead around the check of the address.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import hmac
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import httpx

from console.alerts.addresses import NotReachable, allowed
from console.alerts.outcome import MAX_ANSWER, Outcome

DEADLINE_SECONDS: Final = 5.0
"""For one post: name, connection, request and answer."""
_MOST_BYTES: Final = 4 * MAX_ANSWER


@dataclass(frozen=True, slots=True)
class Posting:
    """One body to post."""

    url: str
    secrets: tuple[str, ...]
    """The newest first; none: the body is not signed."""
    body: bytes
    delivery: str
    event: str

    def headers(self, seconds: int) -> dict[str, str]:
        """Return the headers at a time (seconds since 1970)."""
        found = {
            "Content-Type": "application/json",
            "User-Agent": "Gantry",
            # Ids of checks have the message ids of producers, which may be any text; a header takes little of it.
            "Gantry-Delivery": quote(self.delivery, safe=""),
            "Gantry-Event": self.event,
        }
        if self.secrets:
            # A receiver that takes the last one and has the former secret still, goes on.
            signed = (f"v1={signature(secret, seconds, self.body)}" for secret in self.secrets)
            found["Gantry-Signature"] = ",".join([f"t={seconds}", *signed])
        return found


@dataclass(slots=True)
class _Answer:
    """As much of an answer as has come."""

    status: int | None = None
    body: bytearray = field(default_factory=bytearray)
    cut: str | None = None
    """Why it, or its rest, did not come."""


def signature(secret: str, seconds: int, body: bytes) -> str:
    """Return the signature of a body, hexadecimal."""
    return hmac.new(secret.encode(), b"%d." % seconds + body, hashlib.sha256).hexdigest()


async def post(posting: Posting, networks: Iterable[str]) -> Outcome:
    """Post a body once; only an answer of 200 to 299 counts as delivered.

    `DEADLINE_SECONDS` are for all of it, so that a receiver that sends a byte now and then is late as well. One that
    took the body and is late with the rest of its answer has got it: that is delivered, with `cut`.
    """
    host, answer = httpx.URL(posting.url).host, _Answer()
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await _send(posting, networks, answer)
    except NotReachable as error:
        return Outcome(None, str(error))
    except TimeoutError:
        answer.cut = f"{host} did not answer {'in full ' if answer.status else ''}within {DEADLINE_SECONDS:.0f} s"
    except httpx.HTTPError as error:
        answer.cut = f"the answer of {host} broke off" if answer.status else f"{host} {_failure(error)}"
    return _outcome(host, answer)


def _failure(error: httpx.HTTPError) -> str:
    """Return what went wrong in words that an operator knows: the client's own are those of the system's errors."""
    if isinstance(error, httpx.ConnectError):
        causes = list(_causes(error))
        if any(isinstance(each, ConnectionRefusedError) for each in causes):
            return "refused the connection"
        untrusted = next((each for each in causes if isinstance(each, ssl.SSLCertVerificationError)), None)
        if untrusted is not None:
            return f"has a certificate that is not trusted: {untrusted.verify_message}"
        return "cannot be reached"
    return "closed the connection" if isinstance(error, httpx.NetworkError) else "sent an answer that cannot be read"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def post_and_wait(posting: Posting, networks: Iterable[str]) -> Outcome:
    """Post a body once, for callers without an event loop."""
    return asyncio.run(post(posting, networks))


async def _send(posting: Posting, networks: Iterable[str], answer: _Answer) -> None:
    """Fill the answer in. The name stays in Host and in the check of the certificate."""
    url = httpx.URL(posting.url)
    name = url.raw_host.decode("ascii")
    address = await allowed(name, url.port or (443 if url.scheme == "https" else 80), networks)
    # A compressed answer could be a thousand times as long as what was read.
    plain = {"Host": url.netloc.decode("ascii"), "Accept-Encoding": "identity"}
    headers, extensions = {**posting.headers(int(time.time())), **plain}, {"sni_hostname": name}
    pinned = url.copy_with(host=str(address))
    async with (
        httpx.AsyncClient(verify=_trusted(), timeout=None, trust_env=False, follow_redirects=False) as client,  # noqa: S113 - `post` has a deadline
        client.stream("POST", pinned, content=posting.body, headers=headers, extensions=extensions) as response,
    ):
        answer.status = response.status_code
        async for chunk in response.aiter_raw():
            answer.body += chunk
            if len(answer.body) > _MOST_BYTES:
                answer.cut = f"the answer is longer than {MAX_ANSWER} characters"
                break


def _outcome(host: str, answer: _Answer) -> Outcome:
    if answer.status is None:
        return Outcome(None, answer.cut)
    error = None if 200 <= answer.status < 300 else f"{host} answered {answer.status}"
    body = bytes(answer.body[:_MOST_BYTES])
    return Outcome(
        answer.status, error, body.decode("utf-8", "replace").replace("\0", "")[:MAX_ANSWER], body, answer.cut
    )


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Return the authorities that are trusted; reading them takes longer than a post."""
    return httpx.create_ssl_context(trust_env=False)
