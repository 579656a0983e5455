"""Asks webhooks about transactions whose producers left no decision (docs/http-api.md#check-back-by-webhook)."""
