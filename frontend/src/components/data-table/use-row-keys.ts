import { useRef, useState } from "react"
import { useKeys } from "@/hooks/use-keys"

interface RowKeys<T> {
  rows: T[]
  onRow?: ((row: T) => void) | undefined
  scrollTo: (index: number) => void
}

/** j and k walk through the rows and take the focus along, Enter opens the one they stand on. */
export function useRowKeys<T>({ rows, onRow, scrollTo }: RowKeys<T>) {
  const [focused, setFocused] = useState<number | null>(null)
  const isWalking = useRef(false)
  const walk = (step: number) => {
    if (!onRow || rows.length === 0) return
    const next = focused === null ? 0 : Math.min(rows.length - 1, Math.max(0, focused + step))
    isWalking.current = true
    setFocused(next)
    scrollTo(next)
  }
  useKeys({
    j: () => walk(1),
    k: () => walk(-1),
    Enter: () => {
      const row = focused === null ? undefined : rows[focused]
      if (row !== undefined) onRow?.(row)
    },
  })
  /** A row that comes back while somebody scrolls takes no focus. */
  const takeFocus = (row: HTMLElement) => {
    if (isWalking.current) row.focus({ preventScroll: true })
    isWalking.current = false
  }
  return { focused, takeFocus }
}
