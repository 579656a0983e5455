"""Posts a delivery to a URL, signed.

``Gantry-Signature: t=<seconds>,v1=<hex>`` is the HMAC-SHA256 of ``<seconds>.<body>`` with the channel's secret. After
a change of the secret a second `v1` has the former one's, for a while.
Redirects are not followed: they would lead around the check of the address.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import httpx

from console.alerts.addresses import NotReachable, allowed
from console.alerts.outcome import MAX_ANSWER, Outcome

_TIMEOUT: Final = httpx.Timeout(5.0)
_DEADLINE_SECONDS: Final = 15.0


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
            "Gantry-Delivery": self.delivery,
            "Gantry-Event": self.event,
        }
        if self.secrets:
            # A receiver that takes the last one and has the former secret still, goes on.
            signed = (f"v1={signature(secret, seconds, self.body)}" for secret in self.secrets)
            found["Gantry-Signature"] = ",".join([f"t={seconds}", *signed])
        return found


def signature(secret: str, seconds: int, body: bytes) -> str:
    """Return the signature of a body, hexadecimal."""
    return hmac.new(secret.encode(), b"%d." % seconds + body, hashlib.sha256).hexdigest()


def post(posting: Posting, networks: Iterable[str]) -> Outcome:
    """Post a body once; only an answer of 200 to 299 counts as delivered."""
    url = httpx.URL(posting.url)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        address = allowed(url.raw_host.decode("ascii"), port, networks)
        status, answer = _send(posting, url, str(address))
    except NotReachable as error:
        return Outcome(None, str(error))
    except httpx.TimeoutException:
        return Outcome(None, f"{url.host} did not answer within {_TIMEOUT.read:.0f} s")
    except httpx.HTTPError as error:
        return Outcome(None, f"{url.host} could not be reached: {error or type(error).__name__}")
    return Outcome(status, None if 200 <= status < 300 else f"{url.host} answered {status}", answer)


def _send(posting: Posting, url: httpx.URL, address: str) -> tuple[int, str]:
    """Return status and the beginning of the answer. The name stays in Host and in the check of the certificate."""
    headers = {**posting.headers(int(time.time())), "Host": url.netloc.decode("ascii")}
    extensions = {"sni_hostname": url.raw_host.decode("ascii")}
    with httpx.Client(timeout=_TIMEOUT, trust_env=False, follow_redirects=False) as client:
        pinned = url.copy_with(host=address)
        with client.stream("POST", pinned, content=posting.body, headers=headers, extensions=extensions) as response:
            return response.status_code, _beginning(response)


def _beginning(response: httpx.Response) -> str:
    """Return the first characters of an answer: a receiver may send without end, or slowly."""
    until, kept = time.monotonic() + _DEADLINE_SECONDS, b""
    for chunk in response.iter_bytes():
        kept += chunk
        if len(kept) >= 4 * MAX_ANSWER or time.monotonic() > until:
            break
    return kept.decode("utf-8", "replace").replace("\0", "")[:MAX_ANSWER]
