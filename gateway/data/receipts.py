"""Receipts: a lease as signed text, so that any gateway process can settle the leases of another one.

::

    v3. <portion> . <message> <signature>        each in Base64 for URLs (RFC 4648 5) without padding

    portion     MessagePack array (class `Portion`): what the messages share that one pop leased from one queue
    message     queue offset (8 bytes, big-endian), delivery count (4 bytes), message id (UTF-8)
    signature   18 bytes: keyed BLAKE2b (RFC 7693) of the text between ``v3.`` and it

The key follows from Django's secret key, so all processes have it. The receipt contains everything, and a changed one
is refused. Writing and opening many at once have compiled twins (`broker_core.native`).
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

import msgspec

from broker_core.client.consumer.leases import LeasePortion, LeaseReceipt
from broker_core.native import native
from broker_core.protocol.values import hot_value
from gateway.problems import INVALID_RECEIPT, ProblemError

_VERSION: Final = "v3."
_SIGNATURE_BYTES: Final = 18
_SIGNATURE_TEXT: Final = _SIGNATURE_BYTES // 3 * 4
_MAX_LENGTH: Final = 4096
_PORTIONS_KEPT: Final = 4096
_MESSAGE: Final = Struct(">qI")

Lease = tuple[str, int]
"""A lease as it is counted: the text of its portion, and the queue offset."""


class Portion(msgspec.Struct, array_like=True, frozen=True):
    """What the receipts of one pop from one queue share: the holder, the end (ms since the epoch), the lease itself."""

    cluster: str
    topic: str
    expires_at: int
    leased: LeasePortion

    @property
    def holder(self) -> tuple[str, str, str]:
        """Cluster, group and topic."""
        return self.cluster, self.leased.group, self.topic


class OpenedPortion(NamedTuple):
    """Receipts of one portion: their queue offsets, and their places among those that were opened."""

    text: str
    portion: Portion
    offsets: list[int]
    places: list[int]


@hot_value
class Receipt:
    """One lease: its portion, and its message."""

    portion: Portion
    portion_text: str
    queue_offset: int
    delivery_count: int
    message_id: str

    @property
    def lease(self) -> Lease:
        """What the lease is counted by."""
        return self.portion_text, self.queue_offset

    @property
    def expires_at(self) -> int:
        """When it ends, ms since the epoch."""
        return self.portion.expires_at

    @property
    def handle(self) -> LeaseReceipt:
        """The lease as the client knows it."""
        return self.portion.leased.receipt(self.queue_offset)


def derive_key(secret: str) -> bytes:
    """Return the key of receipts for the installation's secret."""
    return hmac.digest(secret.encode(), b"gantry receipt v3", "sha256")


class Receipts:
    """Seals and opens receipts under one key."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        """For the compiled twins."""
        self._keyed = blake2b(key=key, digest_size=_SIGNATURE_BYTES)

    def seal(self, receipt: Receipt) -> str:
        """Return the text of the receipt."""
        message = _MESSAGE.pack(receipt.queue_offset, receipt.delivery_count) + receipt.message_id.encode()
        sealed = f"{receipt.portion_text}.{_coded(message)}"
        return _VERSION + sealed + self._sign(sealed)

    def open(self, text: str, *, cluster: str, group: str, topic: str) -> Receipt:
        """Return the receipt; raise INVALID_RECEIPT if it was changed, or belongs to another group or topic."""
        portion_text, _, message_text = self._verified(text).partition(".")
        message = _decoded(message_text)
        offset, delivery_count = _MESSAGE.unpack_from(message)
        portion = _portion_of(portion_text)
        if portion.holder != (cluster, group, topic):
            cluster, group, topic = portion.holder
            its = f"group {group!r}, topic {topic!r} and cluster {cluster!r}"
            raise ProblemError(INVALID_RECEIPT, f"The receipt is for {its}.")
        return Receipt(portion, portion_text, offset, delivery_count, message[_MESSAGE.size :].decode())

    def open_all(self, texts: list[str], *, cluster: str, group: str, topic: str) -> list[OpenedPortion] | None:
        """Return many receipts sorted by portion; None if one of them is refused, or `open` has to look at each."""
        opened = None if native is None else native.open_receipts(self.key, texts)
        if opened is None:
            return None
        portions = [OpenedPortion(text, _portion_of(text), offsets, places) for text, offsets, places in opened]
        return portions if all(each.portion.holder == (cluster, group, topic) for each in portions) else None

    def _verified(self, text: str) -> str:
        if not text.startswith(_VERSION) or len(text) > _MAX_LENGTH or not text.isascii():
            raise ProblemError(INVALID_RECEIPT, "The text is not a receipt of this gateway.")
        sealed, signature = text[len(_VERSION) : -_SIGNATURE_TEXT], text[-_SIGNATURE_TEXT:]
        # Texts are compared, not bytes: a signature has one text alone, and everything else is signed as text.
        if not hmac.compare_digest(signature, self._sign(sealed)):
            raise ProblemError(INVALID_RECEIPT, "The receipt's signature is wrong: the text was changed or truncated.")
        return sealed

    def _sign(self, sealed: str) -> str:
        signing = self._keyed.copy()
        signing.update(sealed.encode())
        return _coded(signing.digest())


def text_of(portion: Portion) -> str:
    """Return the text of a portion in its receipts."""
    return _coded(_encode(portion))


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Portion).decode


@lru_cache(maxsize=_PORTIONS_KEPT)
def _portion_of(text: str) -> Portion:
    """Return the portion in a text whose signature is right."""
    return _decode(_decoded(text))


def _coded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
