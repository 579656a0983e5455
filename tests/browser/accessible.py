"""What a page must hold for those who do not see it; each rule returns the elements that break it."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

# What is seen on a control is part of its name: somebody who speaks to the page says what is written there.
_NAME_HOLDS_CONTENT: Final = """
[...document.querySelectorAll("button[aria-label], a[aria-label], [role][aria-label]")].filter((element) => {
  if (!/^(button|link|tab|menuitem|option|switch|checkbox)$/.test(element.getAttribute("role") ?? kind(element))) return
  const seen = words(element.innerText)
  return seen !== "" && !words(element.getAttribute("aria-label")).includes(seen)
})
"""
# A plain box has no state that could be told.
_STATE_NEEDS_ROLE: Final = """
[...document.querySelectorAll("div, span, p, section, li")].filter((element) =>
  !element.hasAttribute("role") &&
  ["expanded", "pressed", "selected", "checked", "sort"].some((state) => element.hasAttribute(`aria-${state}`)))
"""
_DEFINITION_LISTS: Final = """
[...document.querySelectorAll("dl > *, dl > div > *")].filter((element) =>
  !/^(DT|DD)$/.test(element.tagName) && !(element.tagName === "DIV" && element.querySelector(":scope > dt")))
"""
_HEADING_ORDER: Final = """
[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((element, index, all) =>
  Number(element.tagName[1]) > (index === 0 ? 1 : Number(all[index - 1].tagName[1]) + 1))
"""
_COLUMNS_HAVE_NAMES: Final = """
[...document.querySelectorAll("th")].filter((element) => words(element.textContent) === "")
"""
_RULES: Final = {
    "the name of a control holds what is written on it": _NAME_HOLDS_CONTENT,
    "a state stands on an element with a role": _STATE_NEEDS_ROLE,
    "a definition list holds terms and definitions": _DEFINITION_LISTS,
    "headings leave out no level": _HEADING_ORDER,
    "every column has a name": _COLUMNS_HAVE_NAMES,
}
_HELPERS: Final = """
const words = (text) => (text ?? "").toLowerCase().replace(/\\s+/g, " ").trim()
const kind = (element) => ({ BUTTON: "button", A: "link" })[element.tagName] ?? ""
"""


def broken_rules(page: Page) -> list[str]:
    """Return one line for each element that breaks a rule."""
    found = []
    for rule, script in _RULES.items():
        elements = page.evaluate(
            f"() => {{ {_HELPERS} return ({script.strip()}).map((element) => element.outerHTML.slice(0, 160)) }}"
        )
        found += [f"{page.url}: {rule}: {element}" for element in elements]
    return found
