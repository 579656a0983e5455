"""Topics as Spark tables, and the programs that replay and reconcile them.

It imports nothing, because every worker process of Spark imports it.
"""
