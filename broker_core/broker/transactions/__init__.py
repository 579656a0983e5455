"""Messages of open transactions, and their check-backs (broker/README.md#transactions)."""
