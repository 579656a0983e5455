import { type ColumnDef, columnVisibilityFeature, type RowData, tableFeatures } from "@tanstack/react-table"
import type { ReactNode } from "react"

/** How a column looks and when it goes. */
export interface ColumnLook {
  align?: "end"
  /** The name of the row: first to stay. */
  isName?: boolean
  isSecondary?: boolean
  isStrong?: boolean
  /** The word of the API for sorting by this column. */
  sort?: string
  /** Leaves when the table is narrower than this; never when absent. */
  minWidth?: number
  width?: number | string
  /** Cannot be switched off by hand. */
  isFixed?: boolean
  label?: string
  /** Words at both ends of a rail, in place of the head. */
  ends?: [string, string]
}

export const features = tableFeatures({ columnVisibilityFeature, columnMeta: {} as ColumnLook })
export type Features = typeof features
export type Column<T extends RowData> = ColumnDef<Features, T>

/** A column is an id, a head, and what it shows of a row. */
export const columnsFor =
  <T extends RowData>() =>
  (id: string, header: string, look: ColumnLook, cell: (row: T) => ReactNode): Column<T> => ({
    id,
    header,
    meta: { label: header, ...look },
    cell: ({ row }) => cell(row.original),
  })

export const ROW_HEIGHT = { comfortable: 36, standard: 32, compact: 28 } as const
