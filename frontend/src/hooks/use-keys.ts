import { useEffect, useRef } from "react"

type Keys = Record<string, (event: KeyboardEvent) => void>

const SEQUENCE_MS = 800

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

/** Enter belongs to the button or link that has the focus. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary, [role=menuitem], [role=option]") !== null
}

/** Single keys ("r", "/", "Escape") and sequences of two ("g t"); never while typing or with a modifier. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  useEffect(() => {
    current.current = keys
  })
  useEffect(() => {
    let before: { key: string; at: number } | null = null
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isPressing(event)) return
      const sequence = before && Date.now() - before.at < SEQUENCE_MS ? `${before.key} ${event.key}` : null
      before = { key: event.key, at: Date.now() }
      const action = (sequence ? current.current[sequence] : undefined) ?? current.current[event.key]
      if (!action) return
      event.preventDefault()
      action(event)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [])
}
