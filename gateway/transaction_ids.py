"""Transaction ids: the place of a half message as signed text, so that any gateway process can end its transaction.

::

    t1. <place> <signature>        each in Base64 for URLs (RFC 4648 5) without padding

    place       MessagePack array (class `HalfPlace`)
    signature   18 bytes: keyed BLAKE2b (RFC 7693) of the text between ``t1.`` and it

The key follows from Django's secret key, as that of receipts does (`gateway.data.receipts`), and is another one.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Final

import msgspec

from broker_core.client.members import Prepared
from broker_core.protocol.message import LogOffset, QueueOffset
from gateway.problems import TRANSACTION_DECIDED, TRANSACTION_NOT_FOUND, ProblemError

_VERSION: Final = "t1."
_SIGNATURE_BYTES: Final = 18
_SIGNATURE_TEXT: Final = _SIGNATURE_BYTES // 3 * 4
_MAX_LENGTH: Final = 2048


class HalfPlace(msgspec.Struct, array_like=True, frozen=True):
    """Where a half message is, and whose: topic and group are those that its producer named."""

    cluster: str
    topic: str
    group: str
    broker: str
    queue_offset: int
    log_offset: int
    message_id: str

    @classmethod
    def of(cls, cluster: str, topic: str, group: str, prepared: Prepared) -> HalfPlace:
        """Return it for a half message that was stored."""
        where = prepared.broker_name, int(prepared.queue_offset), int(prepared.log_offset)
        return cls(cluster, topic, group, *where, prepared.message_id)

    @property
    def prepared(self) -> Prepared:
        """The place as the client knows it."""
        return Prepared(self.broker, QueueOffset(self.queue_offset), LogOffset(self.log_offset), self.message_id)


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(HalfPlace).decode


def derive_key(secret: str) -> bytes:
    """Return the key of these ids for the installation's secret."""
    return hmac.digest(secret.encode(), b"gantry transaction v1", "sha256")


class TransactionIds:
    """Writes and reads ids under one key."""

    def __init__(self, key: bytes) -> None:
        self._keyed = blake2b(key=key, digest_size=_SIGNATURE_BYTES)

    def seal(self, place: HalfPlace) -> str:
        """Return the id."""
        sealed = _coded(_encode(place))
        return _VERSION + sealed + self._sign(sealed)

    def open(self, text: str, *, cluster: str) -> HalfPlace:
        """Return the place; raise TRANSACTION_NOT_FOUND if the text was changed, or is of another cluster."""
        if not text.startswith(_VERSION) or len(text) > _MAX_LENGTH or not text.isascii():
            raise ProblemError(TRANSACTION_NOT_FOUND, "The text is not a transaction id of this gateway.")
        sealed, signature = text[len(_VERSION) : -_SIGNATURE_TEXT], text[-_SIGNATURE_TEXT:]
        if not hmac.compare_digest(signature, self._sign(sealed)):
            raise ProblemError(TRANSACTION_NOT_FOUND, "The signature of the id is wrong: it was changed or truncated.")
        place = _decode(urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
        if place.cluster != cluster:
            raise ProblemError(TRANSACTION_NOT_FOUND, f"The transaction is one of cluster {place.cluster!r}.")
        return place

    def _sign(self, sealed: str) -> str:
        signing = self._keyed.copy()
        signing.update(sealed.encode())
        return _coded(signing.digest())


def decided_before(place: HalfPlace, before: str | None) -> ProblemError:
    """Return the refusal of a decision, or a check, on a transaction that ended, in a broker's words or the API's."""
    how = None if before is None else before.replace("_", " ")
    detail = f"The transaction of message {place.message_id} was {how or 'decided'} before."
    return ProblemError(TRANSACTION_DECIDED, detail, extra={"decision": None if how is None else how.replace(" ", "_")})


def _coded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
