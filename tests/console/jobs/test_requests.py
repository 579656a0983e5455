"""The shapes of what a job is asked to do."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from console.jobs.requests import CompareField


@pytest.mark.parametrize("wanted", ["body", "none", ["body", "tag"], ["keys", "properties"]])
def test_what_is_compared_is_a_word_or_a_list_of_fields(wanted: Any) -> None:
    assert CompareField().run_validation(wanted) == wanted


@pytest.mark.parametrize("wanted", ["luck", ["body", "luck"], 7, ["body"] * 5])
def test_a_field_that_cannot_be_compared_is_refused(wanted: Any) -> None:
    with pytest.raises(ValidationError):
        CompareField().run_validation(wanted)
