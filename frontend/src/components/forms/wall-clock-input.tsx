import { TextInput } from "@mantine/core"
import { IconClock } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { parseWallClock, wallClock } from "@/lib/time"

interface WallClockInputProps {
  label: string
  description?: string
  /** RFC 3339, as it stands in the address. */
  value: string | undefined
  onChange: (instant: string | undefined) => void
}

/** A moment typed as a wall clock of the chosen zone. */
export function WallClockInput({ label, description, value, onChange }: WallClockInputProps) {
  const { t } = useTranslation()
  const { zone, zoneLabel } = useFormat()
  const [typed, setTyped] = useState(() => written(value, zone))
  const isWrong = typed !== "" && parseWallClock(typed, zone) === null
  return (
    <TextInput
      label={label}
      description={description}
      placeholder="2026-11-21 14:10:00"
      leftSection={<IconClock size={15} stroke={1.6} />}
      rightSection={<span className="micro">{zoneLabel()}</span>}
      rightSectionWidth={58}
      value={typed}
      error={isWrong ? t("messages.noTime") : null}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        const at = parseWallClock(text, zone)
        if (text === "" || at !== null) onChange(at === null ? undefined : new Date(at).toISOString())
      }}
      maw={260}
    />
  )
}

function written(instant: string | undefined, zone: string): string {
  const at = instant ? Date.parse(instant) : Number.NaN
  return Number.isNaN(at) ? "" : wallClock(at, zone)
}
