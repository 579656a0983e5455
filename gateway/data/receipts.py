"""Receipts: a lease as signed text, so that any gateway process can settle the leases of another one.

``v2.`` + base64url(payload + signature). The payload is a MessagePack array (class `Receipt`), the signature its keyed
BLAKE2b (RFC 7693) of 16 bytes, under a key that all processes derive from Django's secret key. The receipt contains
everything, and a changed one is refused. A process also remembers the receipts it sealed last, which saves the check.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections import OrderedDict
from hashlib import blake2b
from typing import Final

import msgspec

from broker_core.client.consumer.leases import LeaseReceipt
from gateway.problems import INVALID_RECEIPT, ProblemError

_VERSION: Final = "v2."
_SIGNATURE_BYTES: Final = 16
_MAX_LENGTH: Final = 4096
_REMEMBERED: Final = 16_384
"""How many sealed receipts one process remembers, about 1 kB each."""


class Receipt(msgspec.Struct, array_like=True, frozen=True):
    """One lease: its holder, its message, its end (ms since the epoch)."""

    cluster: str
    group: str
    topic: str
    lease: str
    expires_at: int
    delivery_count: int
    message_id: str

    @property
    def handle(self) -> LeaseReceipt:
        """The lease as the client knows it."""
        return LeaseReceipt.from_text(self.lease)


def derive_key(secret: str) -> bytes:
    """Return the key of receipts for the installation's secret."""
    return hmac.digest(secret.encode(), b"gantry receipt v2", "sha256")


class Receipts:
    """Seals and opens receipts under one key."""

    def __init__(self, key: bytes) -> None:
        self._keyed = blake2b(key=key, digest_size=_SIGNATURE_BYTES)
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(Receipt).decode
        self._sealed: OrderedDict[str, Receipt] = OrderedDict()

    def seal(self, receipt: Receipt) -> str:
        """Return the text of the receipt."""
        payload = self._encode(receipt)
        text = _VERSION + urlsafe_b64encode(payload + self._sign(payload)).rstrip(b"=").decode()
        if len(self._sealed) >= _REMEMBERED:
            self._sealed.popitem(last=False)
        self._sealed[text] = receipt
        return text

    def open(self, text: str, *, cluster: str, group: str, topic: str) -> Receipt:
        """Return the receipt; raise INVALID_RECEIPT if it was changed, or belongs to another group or topic."""
        receipt = self._sealed.pop(text, None) or self._decode(self._verified(text))
        if (receipt.cluster, receipt.group, receipt.topic) != (cluster, group, topic):
            raise ProblemError(
                INVALID_RECEIPT,
                f"The receipt is for group {receipt.group!r}, topic {receipt.topic!r} and cluster {receipt.cluster!r}.",
            )
        return receipt

    def _verified(self, text: str) -> bytes:
        if not text.startswith(_VERSION) or len(text) > _MAX_LENGTH or not text.isascii():
            raise ProblemError(INVALID_RECEIPT, "The text is not a receipt of this gateway.")
        coded = text[len(_VERSION) :]
        try:
            data = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
        except (NotBase64, ValueError):
            raise ProblemError(INVALID_RECEIPT, "The text is not a receipt of this gateway.") from None
        if urlsafe_b64encode(data).rstrip(b"=").decode() != coded:  # the decoder is lenient
            raise ProblemError(INVALID_RECEIPT, "The text is not a receipt of this gateway.")
        payload, signature = data[:-_SIGNATURE_BYTES], data[-_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._sign(payload)):
            raise ProblemError(INVALID_RECEIPT, "The receipt's signature is wrong: the text was changed or truncated.")
        return payload

    def _sign(self, payload: bytes) -> bytes:
        signing = self._keyed.copy()
        signing.update(payload)
        return signing.digest()
