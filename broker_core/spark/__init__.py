"""Topics as Spark tables, and the programs that replay and reconcile them.

Kept free of imports: every worker process of Spark imports this package.
"""
