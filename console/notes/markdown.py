"""Markdown as HTML that is safe to show: CommonMark with tables, without HTML of its own, pictures and odd links."""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

# A page has its title and the head of a panel above a note.
_HEADINGS_BELOW: Final = 2
_LOWEST_HEADING: Final = 6
_SAFE_LINK: Final = re.compile(r"(?:https?://|mailto:|#|/(?![/\\]))", re.IGNORECASE)


def html_of(text: str) -> str:
    """Return the HTML of Markdown.

    HTML in the text is shown as it is written. Links lead to the web, to an address of mail or to another page of the
    console, and open a window of their own that knows nothing of this one; other ones stay text. A picture would tell
    another host who reads the note, so there is none.
    """
    html: str = _MARKDOWN.render(text)
    return html


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    made.validateLink = _is_safe  # type: ignore[method-assign]
    made.core.ruler.push("below_the_page", _fit_into_page)
    return made


def _is_safe(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


def _fit_into_page(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + _HEADINGS_BELOW, _LOWEST_HEADING)}"
        for inner in token.children or ():
            if inner.type == "link_open":
                inner.attrSet("target", "_blank")
                inner.attrSet("rel", "noopener noreferrer")


_MARKDOWN: Final = _made()
