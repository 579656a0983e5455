"""Where an ingress and the server behind it listen: `gateway.serve` tells its worker in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

PUBLIC_VARIABLE: Final = "GANTRY_INGRESS"
SERVER_VARIABLE: Final = "GANTRY_INGRESS_SERVER"
BACKLOG: Final = 4096


class Address(NamedTuple):
    """Where something listens."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address of ``host:port``."""
        host, _, port = text.rpartition(":")
        return cls(host, int(port))


class Places(NamedTuple):
    """The address of the ingress, and of the server behind it in the same process."""

    public: Address
    server: Address

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> Places | None:
        """Return what `gateway.serve` has set; None for a server that listens at the HTTP port itself."""
        public, server = environ.get(PUBLIC_VARIABLE), environ.get(SERVER_VARIABLE)
        return None if public is None or server is None else cls(Address.parse(public), Address.parse(server))
