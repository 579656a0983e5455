import { useEffect, useState } from "react"

/** `value` as it was when it last stood still for `delayMs`. */
export function useDebounced<T>(value: T, delayMs = 250): T {
  const [still, setStill] = useState(value)
  useEffect(() => {
    const timer = window.setTimeout(() => setStill(value), delayMs)
    return () => window.clearTimeout(timer)
  }, [value, delayMs])
  return still
}
