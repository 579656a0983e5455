"""What a page must hold for those who do not see it, or do not see colours well: the rules of axe-core."""

from __future__ import annotations

from typing import Any, Final

from playwright.sync_api import Page

from tests.support.gantry import ROOT

_AXE: Final = ROOT / "frontend/node_modules/axe-core/axe.min.js"
_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
_OPTIONS: Final = {"resultTypes": ["violations"], "preload": False, "iframes": False}
_THEMES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    # axe counts this rule (WCAG 2.5.3) among its experiments, which run only when they are named.
    (
        "light",
        {"runOnly": {"type": "tag", "values": _TAGS}, "rules": {"label-content-name-mismatch": {"enabled": True}}},
    ),
    # No other rules of these ask for a colour, so another theme can break no others.
    ("dark", {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}),
)
_CHECK: Final = """async ([within, without, themes]) => {
  const root = document.documentElement
  const where = within ?? (without ? { exclude: [...document.querySelectorAll(without)] } : document)
  const found = []
  for (const [theme, options] of themes) {
    root.dataset.mantineColorScheme = theme
    for (const { id, nodes } of (await axe.run(where, options)).violations)
      for (const { html, failureSummary } of nodes)
        found.push(`${theme}, ${innerWidth} px: ${id}: ${html.slice(0, 240)} (${failureSummary.replace(/\\s+/g, " ")})`)
  }
  root.dataset.mantineColorScheme = themes[0][0]
  return found
}"""


def broken_rules(page: Page, *, within: str | None = None, without: str | None = None) -> list[str]:
    """Return one line for each element that breaks a rule, in the light theme or in the dark one.

    `within` is a selector: then only what stands in those elements is looked at, without the rules about whole pages.
    `without` is a selector of elements looked at before; the rules about whole pages still count them.
    Nothing may move meanwhile, so the page must be one that was asked for less motion.
    """
    if page.evaluate("() => window.axe === undefined"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    themes = [(theme, {**_OPTIONS, **options}) for theme, options in _THEMES]
    found: list[str] = page.evaluate(_CHECK, [within, without, themes])
    return [f"{page.url}: {line}" for line in found]
