"""Requirements of `gateway.cli.output`."""

from __future__ import annotations

import pytest

from gateway.cli.exact import decode
from gateway.cli.output import Output


def table(capsys: pytest.CaptureFixture[str], item: str, *columns: str) -> list[list[str]]:
    """Print one item as a table; return head and row as words."""
    Output(is_json=False).rows([decode(item)], columns)
    return [line.split("  ") for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("8.023543990086742", "8.02"),
        ("0.00012345", "0.000123"),
        ("2.0", "2"),
        ("1e3", "1000"),
        ("-3.14159", "-3.14"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_a_table_has_digits_that_say_something(capsys: pytest.CaptureFixture[str], number: str, shown: str) -> None:
    assert table(capsys, f'{{"in_rate": {number}}}', "in_rate")[1] == [shown]
    Output(is_json=True).rows([decode(f'{{"in_rate":{number}}}')], ["in_rate"])
    assert capsys.readouterr().out == f'{{"in_rate":{number}}}\n', "JSON has them all"


def test_headings_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    item = '{"failover": {"in_sync": true}, "job": {"state": "failed"}}'
    heads, row = table(capsys, item, "in_sync=failover.in_sync", "job.state")
    assert heads == ["IN SYNC", "JOB STATE"]
    assert [word.strip() for word in row if word.strip()] == ["yes", "failed"]
