"""Rows of the database, as requests name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from rest_framework.exceptions import APIException


@contextmanager
def unless_taken(rows: QuerySet[Any], refusal: APIException) -> Iterator[None]:
    """Run the block in a transaction; raise `refusal` if one of `rows` exists, or another transaction adds it first."""
    try:
        with transaction.atomic():
            if rows.exists():
                raise refusal
            yield
    except IntegrityError:
        # Not every violation of a rule is a name that is taken.
        if rows.exists():
            raise refusal from None
        raise
