import { useEffect, useMemo } from "react"

/** Gives the focus back, when what opened here is closed or gone, to what had it before: for an item of a menu, to the button of the menu. */
export function useFocusBack(isOpen: boolean): void {
  // Read while rendering: when effects run, the menu and its item may be gone.
  const opener = useMemo(() => (isOpen ? openerOf(document.activeElement) : null), [isOpen])
  useEffect(() => {
    if (!isOpen) return
    return () => void window.setTimeout(() => isLost(document.activeElement) && opener?.focus({ preventScroll: true }))
  }, [isOpen, opener])
}

function openerOf(active: Element | null): HTMLElement | null {
  const menu = active?.closest("[role=menu]")
  const opener = menu ? document.querySelector(`[aria-controls="${CSS.escape(menu.id)}"]`) : active
  return opener instanceof HTMLElement ? opener : null
}

/** Nothing that stays has the focus. */
const isLost = (active: Element | null) => active === null || active === document.body || active.closest("[role=dialog], [role=menu]") !== null
