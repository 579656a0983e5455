import { type ComboboxItem, type ComboboxParsedItem, Select, type SelectProps } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { bestFirst } from "@/lib/best-first"

/** A list of this length may have been cut: names beyond it exist, and may be typed. */
export const MOST_NAMES = 500
const SHOWN = 60

interface NamePickerProps extends Omit<SelectProps, "data" | "value" | "onChange"> {
  names: readonly string[]
  value: string | undefined
  /** Whether there are names that the list does not have: they may be typed. */
  isCut?: boolean
  onChange: (name: string | undefined) => void
}

/**
 * Chooses a name by typing: Enter takes the very name that was typed, else the best match. Where no name is known, because
 * the list could not be read or is empty, the one that is typed is taken.
 */
export function NamePicker({ names, value, isCut = names.length >= MOST_NAMES, onChange, ...rest }: NamePickerProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(value ?? "")
  const mayBeAnother = names.length === 0 || isCut
  const extra = [value, mayBeAnother ? typed.trim() : undefined]
  const all = new Set([...extra.filter((name): name is string => Boolean(name)), ...names])
  return (
    <Select
      {...rest}
      searchable
      selectFirstOptionOnChange
      nothingFoundMessage={t(names.length === 0 ? "names.none" : "names.noMatch")}
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
