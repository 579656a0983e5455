import { type ComboboxItem, type ComboboxParsedItem, Select, type SelectProps } from "@mantine/core"
import { useState } from "react"
import { bestFirst } from "@/lib/best-first"

/** A list of this length may have been cut: names beyond it exist, and may be typed. */
export const MOST_NAMES = 500
const SHOWN = 60

interface NamePickerProps extends Omit<SelectProps, "data" | "value" | "onChange"> {
  names: readonly string[]
  value: string | undefined
  onChange: (name: string | undefined) => void
}

/** Chooses a name by typing: Enter takes the very name that was typed, else the best match. */
export function NamePicker({ names, value, onChange, ...rest }: NamePickerProps) {
  const [typed, setTyped] = useState(value ?? "")
  const extra = [value, names.length >= MOST_NAMES ? typed.trim() : undefined]
  const all = new Set([...extra.filter((name): name is string => Boolean(name)), ...names])
  return (
    <Select
      {...rest}
      searchable
      selectFirstOptionOnChange
      data={[...all]}
      limit={SHOWN}
      filter={({ options, search, limit }) => bestFirst(options.filter(isItem), search, ({ label }) => label).slice(0, limit)}
      searchValue={typed}
      onSearchChange={setTyped}
      value={value ?? null}
      onChange={(name) => onChange(name ?? undefined)}
    />
  )
}

const isItem = (option: ComboboxParsedItem): option is ComboboxItem => !("group" in option)
