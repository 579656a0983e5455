import { TextInput } from "@mantine/core"
import { IconClock } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { isInstant, parseWallClock, wallClock } from "@/lib/time"

interface WallClockInputProps {
  label: string
  description?: string
  /** RFC 3339, as it stands in the address; what cannot be read stands there as it was typed. */
  value: string | undefined
  error?: string | null | undefined
  onChange: (instant: string | undefined) => void
}

/** A moment typed as a wall clock of the chosen zone. What is none is passed on all the same: it must not count as no limit. */
export function WallClockInput({ label, description, value, error, onChange }: WallClockInputProps) {
  const { t } = useTranslation()
  const { zone, zoneLabel } = useFormat()
  const [typed, setTyped] = useState(() => written(value, zone))
  // Taken back elsewhere, as with all filters at once.
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    if (value === undefined) setTyped("")
  }
  const isWrong = typed.trim() !== "" && parseWallClock(typed, zone) === null && !isInstant(typed)
  return (
    <TextInput
      label={label}
      description={description}
      placeholder="2026-11-21 14:10:00"
      leftSection={<IconClock size={15} stroke={1.6} />}
      rightSection={<span className="micro">{zoneLabel()}</span>}
      rightSectionWidth={58}
      value={typed}
      error={isWrong ? t("messages.noTime") : error}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        const at = parseWallClock(text, zone)
        onChange(at === null ? text.trim() || undefined : new Date(at).toISOString())
      }}
      maw={260}
    />
  )
}

function written(instant: string | undefined, zone: string): string {
  return instant && isInstant(instant) ? wallClock(Date.parse(instant), zone) : (instant ?? "")
}
