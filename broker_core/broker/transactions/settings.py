"""What the settings say about transactions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Whether they are taken, and when producers are asked about those they left open; times in ms."""

    rejected: bool = False  # rejectTransactionMessage
    timeout_ms: int = 6_000  # transactionTimeOut
    interval_ms: int = 60_000  # transactionCheckInterval
    max_checks: int = 15  # transactionCheckMax
