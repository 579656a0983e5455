import { Tooltip } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { NotApplicable, Num } from "./num"

interface TimeProps {
  at: string | null | undefined
  withMs?: boolean
}

/** A moment in the chosen zone; the other forms on hover. */
export function Time({ at, withMs = false }: TimeProps) {
  const format = useFormat()
  if (!at) return <NotApplicable />
  return (
    <Tooltip label={format.everyForm(at)}>
      <time dateTime={at}>{format.when(at, withMs)}</time>
    </Tooltip>
  )
}

const NOW_MS = 1_000

/** How long ago, in words; the exact time on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  const format = useFormat()
  const { t } = useTranslation()
  const now = useNow()
  if (!at) return <NotApplicable />
  const age = now - Date.parse(at)
  return (
    <Tooltip label={format.everyForm(at)}>
      <time dateTime={at}>{age < NOW_MS * 2 ? t("time.now") : format.duration(largest(age))}</time>
    </Tooltip>
  )
}

const UNITS = [86_400_000, 3_600_000, 60_000, 1_000] as const

/** Only the largest unit, because an age in a list need not be finer. */
function largest(ms: number): number {
  const unit = UNITS.find((size) => ms >= size) ?? 1
  return Math.floor(ms / unit) * unit
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  const format = useFormat()
  if (ms === null || ms === undefined) return <NotApplicable />
  if (ms === 0) return <Num value={0} />
  return <span>{format.duration(ms)}</span>
}
