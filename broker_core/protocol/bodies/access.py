"""Bodies of access control: accounts as files and requests describe them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlainAccessConfig:
    """One account. Rights are texts such as ``PUB|SUB``, lists have ``name=PUB|SUB``."""

    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    white_remote_address: str | None = None
    admin: bool = False
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: list[str] | None = None
    group_perms: list[str] | None = None
    secret_digest: str | None = field(default=None, repr=False)
    """Only in lists of Gantry's brokers, of which the request has a nonce."""


@dataclass(frozen=True, slots=True)
class ClusterAccessConfig:
    """All accounts of a broker (54, until 4.9.7)."""

    global_white_addrs: list[str] = field(default_factory=list)
    plain_access_configs: list[PlainAccessConfig] = field(default_factory=list)
