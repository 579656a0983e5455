"""The bits of a message's sys flag (protocol/README.md#sys-flag)."""

from __future__ import annotations

from typing import Final

COMPRESSED: Final = 0x1
MULTI_TAGS: Final = 0x2
TRANSACTION_MASK: Final = 0xC
TRANSACTION_PREPARED: Final = 0x4
TRANSACTION_COMMIT: Final = 0x8
TRANSACTION_ROLLBACK: Final = 0xC
BORN_HOST_IPV6: Final = 0x10
STORE_HOST_IPV6: Final = 0x20
HOSTS_MASK: Final = BORN_HOST_IPV6 | STORE_HOST_IPV6
COMPRESSOR_MASK: Final = 0x700
COMPRESSOR_LZ4: Final = 0x100
COMPRESSOR_ZSTD: Final = 0x200
COMPRESSOR_ZLIB: Final = 0x300


def enters_consume_queue(sys_flag: int) -> bool:
    """Return whether a record with these bits gets a queue offset, as plain and committed messages do."""
    return not sys_flag & TRANSACTION_PREPARED
