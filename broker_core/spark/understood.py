"""SQL expressions that Spark refuses before it computes any: a fault of the request, named by its field there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from broker_core.job_folder import say
from broker_core.spark.errors import BadRequest, first_line, without_values

_OF_JAVA_ITSELF: Final = "java.lang.OutOfMemoryError"


def understood(part: str, make: Callable[[], DataFrame]) -> DataFrame:
    """Return what `make` makes of an expression; raise BadRequest, with its field, if Spark refuses it."""
    try:
        made = make()
        _ = made.schema
    except PySparkException as error:
        raise BadRequest(f"{part}: {first_line(error)}") from error
    except Py4JJavaError as error:
        # Spark breaks on some that its parser lets through, as a lambda that stands where no function takes it.
        if _OF_JAVA_ITSELF in str(error):
            raise
        say(f"Spark says: {error}")
        told = without_values(error)
        raise BadRequest(f"{part}: Spark does not understand it: {told}; the log says more") from error
    return made
