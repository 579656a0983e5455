"""The programs that run as child processes: ``python -m broker_core.spark.programs.replay JOB_DIR``."""
