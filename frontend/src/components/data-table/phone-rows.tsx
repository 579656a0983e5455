import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import classes from "./phone-rows.module.css"

interface PhoneRowsProps<T extends { name: string }> {
  label: string
  rows: readonly T[]
  /** Four cells: the name and its figure, then two facts in small; a `PhoneRail` may follow. */
  children: (row: T) => ReactNode
  /** Loads the next page; given while there is one. */
  onEnd?: (() => void) | undefined
}

/** The rows of a table on a phone: the whole name first, two columns, no head. */
export function PhoneRows<T extends { name: string }>({ label, rows, children, onEnd }: PhoneRowsProps<T>) {
  const { t } = useTranslation()
  return (
    <ul aria-label={label}>
      {rows.map((row) => (
        <li key={row.name} className={classes.row}>
          {children(row)}
        </li>
      ))}
      {onEnd && (
        <li className={classes.more}>
          <button type="button" onClick={onEnd}>
            {t("table.more")}
          </button>
        </li>
      )}
    </ul>
  )
}

/** A rail under the four cells, as wide as the row. */
export const PhoneRail = ({ children }: { children: ReactNode }) => <div className={classes.wide}>{children}</div>
