"""Filters over the properties of messages, in the language that RocketMQ calls SQL92 (README.md)."""

from broker_core.sql92.compiled import MAX_CHARACTERS, Sql92, compile_sql92
from broker_core.sql92.errors import IllegalExpression

__all__ = ["MAX_CHARACTERS", "IllegalExpression", "Sql92", "compile_sql92"]
