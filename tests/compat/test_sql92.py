"""SQL92 filters against the classes of Apache RocketMQ 5.3.3 that compile and evaluate them."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from broker_core.sql92 import IllegalExpression, compile_sql92
from tests.broker_core.sql92 import generated
from tests.compat.java_build import CLIENT5

pytestmark = pytest.mark.compat

EXAMPLES = 20_000

Case = tuple[str, Mapping[str, str]]


@pytest.mark.usefixtures("_java_build")
def test_every_expression_means_what_it_means_to_apache_rocketmq() -> None:
    CLIENT5.build()
    cases = _cases()
    outcomes = _outcomes_of_java(cases)
    wrong = [(*case, theirs) for case, theirs in zip(cases, outcomes, strict=True) if _ours(*case) != theirs]
    assert not wrong, wrong[:5]
    assert {"matches", "does not match", "refused"} == set(outcomes)


def _cases() -> list[Case]:
    found: list[Case] = []

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(generated.expressions, generated.properties)
    def collect(text: str, properties: Mapping[str, str]) -> None:
        found.append((text, properties))

    collect()
    return found


def _ours(text: str, properties: Mapping[str, str]) -> str:
    try:
        return "matches" if compile_sql92(text).matches(properties) else "does not match"
    except IllegalExpression:
        return "refused"


def _outcomes_of_java(cases: Sequence[Case]) -> list[str]:
    lines = [
        " ".join([_coded(text), *(f"{_coded(name)}:{_coded(value)}" for name, value in properties.items())])
        for text, properties in cases
    ]
    command = CLIENT5.java("gantry.Filters")
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=300)
    said = {"true": "matches", "refused": "refused"}
    return [said.get(line, "does not match") for line in done.stdout.splitlines()]


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
