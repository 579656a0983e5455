"""Jobs: long work done by Spark programs, on demand or by schedule."""
