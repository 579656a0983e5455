import { useElementSize, useMergedRef } from "@mantine/hooks"
import { type Row, type RowData, useTable } from "@tanstack/react-table"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef } from "react"
import { densityPreference } from "@/lib/preferences"
import { useStore } from "@/lib/store"
import { type Column, type Features, features, ROW_HEIGHT } from "./columns"
import classes from "./data-table.module.css"
import { HeaderCell } from "./header-cell"
import { TableFoot } from "./table-foot"
import { useRowKeys } from "./use-row-keys"

export interface DataTableProps<T extends RowData> {
  label: string
  columns: Column<T>[]
  rows: T[]
  rowId: (row: T) => string
  sort?: string | undefined
  onSort?: (sort: string) => void
  onRow?: ((row: T) => void) | undefined
  selectedId?: string | undefined
  hidden?: readonly string[]
  /** Rows up to this one are pinned; a stronger line closes them. */
  pinnedCount?: number
  /** Inside a panel of natural height nothing scrolls and no row is virtual. */
  natural?: boolean
  rowHeight?: number
  onEnd?: (() => void) | undefined
  /** Told the first and the last row that are rendered, when these are others. */
  onView?: ((first: number, last: number) => void) | undefined
  /** Words after the last row. */
  end?: ReactNode
}

function useViewTold(shown: readonly { index: number }[] | null, onView: DataTableProps<RowData>["onView"]) {
  const first = shown?.[0]?.index
  const last = shown?.at(-1)?.index
  useEffect(() => {
    if (first !== undefined && last !== undefined) onView?.(first, last)
  }, [first, last, onView])
}

/** A table with a sticky head, columns that leave by priority, and virtual rows. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, columns, rows, rowId, natural = false, hidden, onRow, selectedId, onEnd, onView } = props
  const density = useStore(densityPreference)
  const rowHeight = props.rowHeight ?? ROW_HEIGHT[density]
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>()
  const scroller = useRef<HTMLDivElement>(null)
  const columnVisibility = useMemo(() => visibility(columns, width, hidden), [columns, width, hidden])
  const table = useTable({ features, columns, data: rows, getRowId: rowId, state: { columnVisibility } })
  const all = table.getRowModel().rows
  const virtual = useVirtualizer({
    count: natural ? 0 : all.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    onChange: (instance) => {
      const last = instance.getVirtualItems().at(-1)
      if (last && last.index >= all.length - 8) onEnd?.()
    },
  })
  const keys = useRowKeys({ rows, onRow, scrollTo: (index) => virtual.scrollToIndex(index) })
  const shown = natural ? null : virtual.getVirtualItems()
  useViewTold(shown, onView)
  const before = shown?.[0]?.start ?? 0
  const after = shown ? virtual.getTotalSize() - (shown.at(-1)?.end ?? 0) : 0
  const visible = shown ? shown.flatMap(({ index }) => all[index] ?? []) : all
  const columnCount = table.getVisibleLeafColumns().length

  return (
    <div className={classes.frame} style={{ "--row": `${rowHeight}px` } as CSSProperties}>
      <div ref={useMergedRef(scroller, sizeRef)} className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
        <table className={classes.table} data-last-open={natural || undefined}>
          <thead>
            <tr>
              {table.getHeaderGroups()[0]?.headers.map((header) => (
                <HeaderCell key={header.id} header={header} sort={props.sort} onSort={props.onSort}>
                  <table.FlexRender header={header} />
                </HeaderCell>
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <Spacer height={before} columns={columnCount} />}
            {visible.map((row) => (
              <BodyRow
                key={row.id}
                row={row}
                isSelected={row.id === selectedId}
                isFocused={row.index === keys.focused}
                takeFocus={keys.takeFocus}
                isPinnedLast={row.index + 1 === props.pinnedCount}
                onRow={onRow}
                render={shownOf}
              />
            ))}
            {after > 0 && <Spacer height={after} columns={columnCount} />}
          </tbody>
        </table>
        {props.end}
      </div>
      <TableFoot label={label} rows={rows as readonly object[]} hasMore={onEnd !== undefined} />
    </div>
  )
}

/** What a cell shows. As a component of its own it would be mounted anew, and lose a click, each time the columns are made again. */
function shownOf<T extends RowData>(cell: Cell<T>): ReactNode {
  const show = cell.column.columnDef.cell
  return typeof show === "function" ? (show(cell.getContext()) as ReactNode) : show
}

type Cell<T extends RowData> = ReturnType<Row<Features, T>["getVisibleCells"]>[number]

interface BodyRowProps<T extends RowData> {
  row: Row<Features, T>
  isSelected: boolean
  isFocused: boolean
  takeFocus: (row: HTMLElement) => void
  isPinnedLast: boolean
  onRow?: ((row: T) => void) | undefined
  render: (cell: Cell<T>) => ReactNode
}

function BodyRow<T extends RowData>({ row, isSelected, isFocused, takeFocus, isPinnedLast, onRow, render }: BodyRowProps<T>) {
  const ref = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isFocused && ref.current) takeFocus(ref.current)
  }, [isFocused, takeFocus])
  return (
    <tr
      ref={ref}
      tabIndex={onRow ? -1 : undefined}
      data-clickable={onRow ? true : undefined}
      data-selected={isSelected || undefined}
      data-focused={isFocused || undefined}
      data-pinned-last={isPinnedLast || undefined}
      aria-selected={onRow ? isSelected : undefined}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, button, input, label")) onRow?.(row.original)
      }}
    >
      {row.getVisibleCells().map((cell) => {
        const look = cell.column.columnDef.meta
        return (
          <td
            key={cell.id}
            data-align={look?.align}
            data-name={look?.isName}
            data-secondary={look?.isSecondary}
            data-strong={look?.isStrong}
          >
            {render(cell)}
          </td>
        )
      })}
    </tr>
  )
}

const Spacer = ({ height, columns }: { height: number; columns: number }) => (
  <tr aria-hidden>
    <td className={classes.spacer} colSpan={columns} style={{ height }} />
  </tr>
)

function visibility<T extends RowData>(columns: Column<T>[], width: number, hidden: readonly string[] = []) {
  const found: Record<string, boolean> = {}
  for (const column of columns) {
    const id = column.id ?? ("accessorKey" in column ? String(column.accessorKey) : "")
    const tooNarrow = width > 0 && (column.meta?.minWidth ?? 0) > width
    found[id] = !tooNarrow && !hidden.includes(id)
  }
  return found
}
