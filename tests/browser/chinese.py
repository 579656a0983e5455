"""English that is left over where a page speaks Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from playwright.sync_api import Page

# Every text that shows or is read aloud; code, and what is set in the type of code, is not words.
_TEXTS: Final = """() => {
    const found = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        const place = walker.currentNode.parentElement
        const isCode = place.closest("code, pre, script, style, .mono, [class*=mono], [role=tree], [title^=Mozilla]")
        if (!isCode && place.checkVisibility()) found.push(walker.currentNode.data)
    }
    for (const element of document.querySelectorAll("[aria-label], [title]:not([title^=Mozilla]), [placeholder]"))
        for (const name of ["aria-label", "title", "placeholder"]) found.push(element.getAttribute(name) ?? "")
    return [...new Set(found)].filter((text) => text !== "autosize measurement") // a field that nobody sees or hears
}"""
# What operators call by these names in Chinese too.
_TERMS: Final = (
    *("Topic", "Broker", "Name server", "Tag", "Key", "Native", "Webhook", "TLS", "Cron", "CommitLog", "ConsumeQueue"),
    *("Gantry", "RocketMQ", "Apache", "Python", "PYTHON", "Java", "JavaScript", "Spark", "Redis", "OpenAPI", "English"),
    *("JSON", "JSON Lines", "JSONL", "CSV", "Base64", "SQL", "SQL92", "TAG", "CRC", "UTC", "ID", "IP", "URL", "HTTP"),
    *("API", "curl", "Ctrl", "Esc", "Enter", "GET", "POST", "PUT", "PATCH", "DELETE", "true", "false", "lite pull"),
    *("Parquet", "ms", "kB", "MB", "GB", "TB", "min", "admin"),
)
_TERM: Final = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(sorted(map(re.escape, _TERMS), key=len, reverse=True))})(?![A-Za-z])"
)
# Patterns, fields, codes and the like: what a program reads.
_SIGNS: Final = re.compile(
    r"""\S*[_*{}$=/@#…|\\%~]\S*|\S+[:.]\S+|\b\w*\d\w*\b|\b[a-z]+[A-Z]\w*\b|“[^”]*”|'[^']*'|"[^"]*\"|`[^`]*`"""
)
_WORD: Final = re.compile(r"[A-Za-z]{2,}")


def leftovers(page: Page, data: Iterable[str]) -> list[str]:
    """Return the texts of a page that hold Latin words besides terms of the field, what programs read, and `data`."""
    names = re.compile("|".join(re.escape(name) for name in sorted(data, key=len, reverse=True)))
    found = (text.strip() for text in page.evaluate(_TEXTS))
    return [text for text in found if _WORD.search(_TERM.sub(" ", names.sub(" ", _SIGNS.sub(" ", text))))]
