import { IconArrowDown, IconArrowUp } from "@tabler/icons-react"
import type { Header, RowData } from "@tanstack/react-table"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { ColumnLook, Features } from "./columns"
import classes from "./data-table.module.css"

interface HeaderCellProps<T extends RowData> {
  header: Header<Features, T>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
  children: ReactNode
}

type Direction = "ascending" | "descending" | undefined

/** The head of a column: a word, a word that sorts, or the two ends of a rail. */
export function HeaderCell<T extends RowData>({ header, sort, onSort, children }: HeaderCellProps<T>) {
  const { t } = useTranslation()
  const look = header.column.columnDef.meta ?? {}
  const direction = directionOf(look.sort, sort)
  return (
    <th data-align={look.align} aria-sort={direction} style={look.width ? { width: look.width } : undefined}>
      {look.sort && onSort ? (
        <SortButton look={look} direction={direction} onSort={onSort}>
          {children}
        </SortButton>
      ) : (
        <Words look={look}>{look.label || look.ends ? children : <span className="sr-only">{t("table.unnamed")}</span>}</Words>
      )}
    </th>
  )
}

function directionOf(by: string | undefined, sort: string | undefined): Direction {
  if (!by) return undefined
  return sort === by ? "ascending" : sort === `-${by}` ? "descending" : undefined
}

interface SortButtonProps {
  look: ColumnLook
  direction: Direction
  onSort: (sort: string) => void
  children: ReactNode
}

/** Sorts where the API can; the arrow stands left of right-aligned heads. */
function SortButton({ look, direction, onSort, children }: SortButtonProps) {
  const Arrow = direction === "ascending" ? IconArrowUp : IconArrowDown
  const arrow = direction && <Arrow size={12} stroke={1.8} aria-hidden />
  const isNumber = look.align === "end"
  return (
    <button
      type="button"
      className={classes.sort}
      data-on={direction ? true : undefined}
      onClick={() => onSort(nextSort(look.sort ?? "", direction, isNumber))}
    >
      {isNumber && arrow}
      {children}
      {!isNumber && arrow}
    </button>
  )
}

function Words({ look, children }: { look: ColumnLook; children: ReactNode }) {
  if (!look.ends) return children
  return (
    <span className={classes.ends}>
      <span>{look.ends[0]}</span>
      <span>{look.ends[1]}</span>
    </span>
  )
}

/** Numbers start with the largest, words with the first letter. */
function nextSort(by: string, direction: Direction, isNumber: boolean): string {
  if (direction === "descending") return by
  if (direction === "ascending") return `-${by}`
  return isNumber ? `-${by}` : by
}
