import { IconArrowDown, IconArrowUp } from "@tabler/icons-react"
import type { Header, RowData } from "@tanstack/react-table"
import type { ReactNode } from "react"
import type { Features } from "./columns"
import classes from "./data-table.module.css"

interface HeaderCellProps<T extends RowData> {
  header: Header<Features, T>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
  children: ReactNode
}

/** A head that sorts where the API can; the arrow stands left of right-aligned heads. */
export function HeaderCell<T extends RowData>({ header, sort, onSort, children }: HeaderCellProps<T>) {
  const look = header.column.columnDef.meta
  const by = look?.sort
  const direction = by && sort === by ? "ascending" : by && sort === `-${by}` ? "descending" : undefined
  const Arrow = direction === "ascending" ? IconArrowUp : IconArrowDown
  const arrow = direction && <Arrow size={12} stroke={1.8} aria-hidden />
  return (
    <th data-align={look?.align} aria-sort={direction} style={look?.width ? { width: look.width } : undefined}>
      {by && onSort ? (
        <button
          type="button"
          className={classes.sort}
          data-on={direction ? true : undefined}
          onClick={() => onSort(nextSort(by, direction, look.align === "end"))}
        >
          {look.align === "end" && arrow}
          {children}
          {look.align !== "end" && arrow}
        </button>
      ) : (
        children
      )}
    </th>
  )
}

/** Numbers start with the largest, words with the first letter. */
function nextSort(by: string, direction: string | undefined, isNumber: boolean): string {
  if (direction === "descending") return by
  if (direction === "ascending") return `-${by}`
  return isNumber ? `-${by}` : by
}
