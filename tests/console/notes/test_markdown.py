"""Requirements of `console.notes.markdown`: whatever a note says, its HTML is safe to show."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.notes.markdown import html_of

_TAGS = (
    set("p h3 h4 h5 h6 ul ol li em strong code pre blockquote hr br a s table thead tbody tr th td".split())  # noqa: SIM905
)
_ATTRIBUTES = {"href", "title", "target", "rel", "class", "start", "style"}
_DANGEROUS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](data:text/html,x)",
    "![a](https://example.com/a.png)",
    "[a](//example.com)",
    "[a](/\\example.com)",
    "<javascript:alert(1)>",
    '[a](https://example.com "\\" onclick=alert(1)")',
    "# head",
    "|a|b|\n|-|:-:|\n|1|2|",
    '```js" onload=\n1\n```',
    "~~gone~~",
]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def _read(text: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = _Reader()
    reader.feed(html_of(text))
    return reader.found


@given(
    st.lists(st.sampled_from(_DANGEROUS) | st.text(max_size=20), max_size=6).map("\n\n".join) | st.text(max_size=200)
)
def test_only_known_tags_come_out_and_links_lead_to_safe_places(text: str) -> None:
    for tag, attributes in _read(text):
        assert tag in _TAGS
        assert attributes.keys() <= _ATTRIBUTES
        assert attributes.get("style") in (None, "text-align:left", "text-align:center", "text-align:right")
        if tag == "a":
            href = attributes["href"] or ""
            assert href.lower().startswith(("https://", "http://", "mailto:", "#", "/"))
            assert not href.startswith(("//", "/\\"))
            assert (attributes["target"], attributes["rel"]) == ("_blank", "noopener noreferrer")


@pytest.mark.parametrize("text", _DANGEROUS[:9])
def test_what_could_run_or_load_something_is_text(text: str) -> None:
    assert not {tag for tag, attributes in _read(text)} & {"script", "img"}
    links = [attributes["href"] for tag, attributes in _read(text) if tag == "a"]
    # A backslash is written in a way that no browser takes for the begin of a host.
    assert links in ([], ["https://example.com"], ["https://example.com/a.png"], ["/%5Cexample.com"])


def test_what_teams_write_is_shown() -> None:
    html = html_of("# Orders\n\nAsk **Team Till**, <https://example.com/runbook> or [the API](/api).\n\n- a\n- b")
    assert "<h3>Orders</h3>" in html
    assert "<strong>Team Till</strong>" in html
    assert html.count("<a ") == 2
    assert html.count("<li>") == 2
