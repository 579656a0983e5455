"""Spark finds ``format("rocketmq")`` here: it imports every installed package whose name begins with ``pyspark_``.

That happens in each session that uses any Python data source, so nothing is imported that takes time
(spark/README.md#what-pyspark-does).
"""

from broker_core.spark.source import RocketMQSource as DefaultSource

__all__ = ["DefaultSource"]
