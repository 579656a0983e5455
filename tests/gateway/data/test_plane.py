"""Requirements of `gateway.data.app`: rights, sizes, and no request that ends in a 500."""

from __future__ import annotations
