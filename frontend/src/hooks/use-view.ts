import { useCallback, useMemo, useState } from "react"

const BLOCK = 50
const MOST = 500

/** The names of the rows in view, in whole blocks, so that scrolling by a row asks for nothing new; and who tells the view. */
export function useView(rows: readonly { name: string }[]) {
  const [view, setView] = useState<readonly [begin: number, end: number]>([0, MOST])
  const onView = useCallback((first: number, last: number) => {
    const begin = Math.floor(first / BLOCK) * BLOCK
    const end = Math.min(begin + MOST, Math.ceil((last + 1) / BLOCK) * BLOCK)
    setView((before) => (before[0] === begin && before[1] === end ? before : [begin, end]))
  }, [])
  const inView = useMemo(() => rows.slice(...view).map(({ name }) => name), [rows, view])
  return { inView, onView }
}
