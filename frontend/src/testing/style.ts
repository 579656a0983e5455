/**
 * The style of an element, told sooner than jsdom tells it: no style sheet of the console is loaded here, so what the element
 * says itself and what HTML says of its kind is all there is. jsdom matches each element with each rule of HTML, and computes
 * 15 colours. Left out: a summary is a block, and the visibility of a hidden row, which is not displayed anyway.
 */

const INHERITED = new Set(["visibility", "pointer-events"])
const INITIAL: Record<string, string> = { visibility: "visible", "pointer-events": "auto" }
// The attributes by which HTML's own style sheet decides about `display`.
const DECIDING = ["hidden", "type", "open", "popover"]

export const jsdomStyle = window.getComputedStyle.bind(window)
const displays = new Map<string, string>()

/** What HTML says of elements of this kind, asked of jsdom once. */
function displayOf(element: Element): string {
  let kind = `${element.namespaceURI ?? ""} ${element.localName}`
  for (const name of DECIDING) if (element.hasAttribute(name)) kind += ` ${name}=${element.getAttribute(name) ?? ""}`
  const known = displays.get(kind)
  if (known !== undefined) return known
  const bare = document.createElementNS(element.namespaceURI, element.localName)
  for (const name of DECIDING) if (element.hasAttribute(name)) bare.setAttribute(name, element.getAttribute(name) ?? "")
  const display = jsdomStyle(bare).display
  displays.set(kind, display)
  return display
}

function valueOf(element: Element, property: string): string {
  // An element without the attribute would be given an empty style.
  const own = element.hasAttribute("style") ? (element as HTMLElement).style.getPropertyValue(property) : ""
  if (own !== "" && own !== "inherit") return own
  if (property === "display") return displayOf(element)
  if (INHERITED.has(property) && element.parentElement !== null) return valueOf(element.parentElement, property)
  return INITIAL[property] ?? ""
}

const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Answers for `window.getComputedStyle`. */
export function ownStyle(element: Element): CSSStyleDeclaration {
  const read = (property: string) => valueOf(element, property)
  return new Proxy({ getPropertyValue: read } as CSSStyleDeclaration, {
    get: (target, name) => (name === "getPropertyValue" ? target.getPropertyValue : typeof name === "string" ? read(dashed(name)) : undefined),
  })
}
