import { Button, Checkbox, Menu, TextInput } from "@mantine/core"
import { IconBaselineDensityMedium, IconColumns3, IconFilter } from "@tabler/icons-react"
import type { RowData } from "@tanstack/react-table"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useDebounced } from "@/hooks/use-debounced"
import { useKeys } from "@/hooks/use-keys"
import { densityPreference, hiddenColumns } from "@/lib/preferences"
import { useStore } from "@/lib/store"
import type { Column } from "./columns"
import classes from "./data-table.module.css"

export const FilterRow = ({ children }: { children: ReactNode }) => <div className={classes.filters}>{children}</div>
export const FilterDivider = () => <span className={classes.divider} aria-hidden />
export const FilterRight = ({ children }: { children: ReactNode }) => <div className={classes.right}>{children}</div>

interface FilterInputProps {
  value: string
  onChange: (value: string | undefined) => void
  placeholder: string
  /** One field of a page is reached by "/". */
  isFirst?: boolean
}

const NO_KEYS = {}

/** Filters as one types; "/" jumps here. Where the filter is taken back elsewhere, the field is emptied. */
export function FilterInput({ value, onChange, placeholder, isFirst = true }: FilterInputProps) {
  const [typed, setTyped] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const still = useDebounced(typed)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    if (value === "" && still !== "") setTyped("")
  }
  const change = useRef(onChange)
  useEffect(() => {
    change.current = onChange
  })
  useEffect(() => {
    change.current(still === "" ? undefined : still)
  }, [still])
  useKeys(isFirst ? { "/": () => input.current?.focus() } : NO_KEYS)
  return (
    <TextInput
      ref={input}
      className={classes.search ?? ""}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      placeholder={placeholder}
      aria-label={placeholder}
      leftSection={<IconFilter size={15} stroke={1.6} />}
      rightSection={isFirst && <kbd className={classes.slash}>/</kbd>}
    />
  )
}

const NEXT = { comfortable: "standard", standard: "compact", compact: "comfortable" } as const

export function DensityButton() {
  const { t } = useTranslation()
  const density = useStore(densityPreference)
  return (
    <Button
      variant="subtle"
      leftSection={<IconBaselineDensityMedium size={15} stroke={1.6} />}
      onClick={() => densityPreference.set(NEXT[density])}
    >
      {t(`density.${density}`)}
    </Button>
  )
}

interface ColumnsButtonProps<T extends RowData> {
  table: string
  columns: Column<T>[]
}

const NONE: readonly string[] = []
export const useHiddenColumns = (table: string): readonly string[] => useStore(hiddenColumns)[table] ?? NONE

/** Which columns are shown; kept in this browser. */
export function ColumnsButton<T extends RowData>({ table, columns }: ColumnsButtonProps<T>) {
  const { t } = useTranslation()
  const kept = useStore(hiddenColumns)
  const hidden = kept[table] ?? []
  const choices = columns.filter(({ meta }) => meta?.label && !meta.isFixed)
  const toggle = (id: string) =>
    hiddenColumns.set({
      ...kept,
      [table]: hidden.includes(id) ? hidden.filter((other) => other !== id) : [...hidden, id],
    })
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="subtle" leftSection={<IconColumns3 size={15} stroke={1.6} />}>
          {t("table.columns", { count: columns.length - hidden.length })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(({ id = "", meta }) => (
          <Menu.Item key={id} onClick={() => toggle(id)}>
            <Checkbox size="xs" readOnly tabIndex={-1} checked={!hidden.includes(id)} label={meta?.label} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
