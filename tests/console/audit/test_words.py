"""Requirement of the audit: the console has words for every action that is recorded."""

from __future__ import annotations

import re
from pathlib import Path

from console.jobs.models import JobType

ROOT = Path(__file__).resolve().parents[3]
WORDS = (ROOT / "frontend/src/features/audit/use-sentence.ts").read_text()
_RECORDED = re.compile(r'\b(?:record|Note)\(\s*[\w.()]+,\s*(f?)"(\{job\.type\}|[a-z_]+)\.([a-z_]+)"')


def actions() -> set[tuple[str, str]]:
    """Return noun and verb of what the sources record."""
    found = set()
    for path in [*ROOT.glob("console/**/*.py"), *ROOT.glob("gateway/**/*.py")]:
        for is_formatted, noun, verb in _RECORDED.findall(path.read_text()):
            found |= {(each, verb) for each in (JobType.values if is_formatted else [noun])}
    return found


def known(name: str) -> set[str]:
    """Return the words of a list of the console."""
    (line,) = re.findall(rf"^const {name} = \[(.*)\] as const$", WORDS, re.MULTILINE)
    return set(re.findall(r'"(\w+)"', line))


def test_every_action_has_words() -> None:
    recorded = actions()
    assert len(recorded) > 30
    otherwise = set(re.findall(r'^  "(\w+)\.(\w+)": \[', WORDS, re.MULTILINE))
    nouns, verbs = known("NOUNS"), known("VERBS")
    lacking = {(noun, verb) for noun, verb in recorded - otherwise if noun not in nouns or verb not in verbs}
    assert lacking == set()
