"""Names of users that cannot be taken for others' names."""

from __future__ import annotations

import unicodedata
from typing import Final

# Scripts that are written together; any other mix may be meant to deceive (Unicode's "highly restrictive").
_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)


def fault_of(username: str) -> str | None:
    """Return why a name could be mistaken for another one, None if it could not."""
    if unicodedata.normalize("NFKC", username) != username:
        return "letters must be in their normal form (Unicode NFKC), because other forms look the same"
    others = [letter for letter in username if not letter.isascii()]
    if any(not letter.isalpha() for letter in others):
        return "besides letters, only ASCII digits and @ . + - _ are allowed, because others look the same"
    scripts = {_script(letter) for letter in username if letter.isalpha()}
    if len(scripts) > 1 and not any(scripts <= each for each in _TOGETHER):
        names = ", ".join(sorted(each.title() for each in scripts))
        return f"letters of {names} mixed in one name can look like another name"
    return None


def _script(letter: str) -> str:
    """Return the first word of a letter's name, which is its script: ``CYRILLIC SMALL LETTER A``."""
    return unicodedata.name(letter, "UNKNOWN").partition(" ")[0].partition("-")[0]
