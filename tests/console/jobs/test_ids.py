"""Requirements of `console.jobs.models.new_id`."""

from __future__ import annotations

import pytest

from console.jobs import models


@pytest.mark.parametrize("step", [0, -1], ids=["in one millisecond", "while the clock goes back"])
def test_ids_sort_in_the_order_in_which_they_were_made(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    first = 1_900_000_000_000
    moments = iter(range(first, first + 200 * step, step)) if step else iter([first] * 200)
    monkeypatch.setattr(models, "_numbers", models._Numbers())
    monkeypatch.setattr(models, "now_ms", lambda: next(moments))
    made = [models.new_id() for _ in range(200)]
    assert made == sorted(set(made))
    assert {len(each) for each in made} == {16}
