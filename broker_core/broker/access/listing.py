"""What a broker tells of its accounts: never a secret, and its digest only to who gives a nonce for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from broker_core.broker.access.document import AccessDocument
from broker_core.protocol.bodies.access import ClusterAccessConfig, PlainAccessConfig
from broker_core.protocol.secret_digest import secret_digest


def listed(documents: Iterable[AccessDocument], nonce: str | None) -> ClusterAccessConfig:
    """Return all accounts without their secrets, which Apache's brokers told until 4.9.7."""
    found = list(documents)
    return ClusterAccessConfig(
        global_white_addrs=[text for document in found for text in document.global_white],
        plain_access_configs=[_told(config, nonce) for document in found for config in document.accounts],
    )


def _told(config: PlainAccessConfig, nonce: str | None) -> PlainAccessConfig:
    digest = secret_digest(nonce, config.access_key or "", config.secret_key or "") if nonce else None
    return replace(config, secret_key=None, secret_digest=digest)
