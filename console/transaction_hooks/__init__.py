"""Webhooks that answer brokers' checks of transactions, one for a producer group (`gateway.transaction_checks`)."""
