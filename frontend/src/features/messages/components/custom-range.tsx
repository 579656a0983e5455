import { useTranslation } from "react-i18next"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import type { UrlState } from "@/hooks/use-url-state"
import classes from "./messages.module.css"

interface CustomRangeProps {
  from: string | undefined
  to: string | undefined
  isReversed?: boolean
  onChange: (patch: UrlState) => void
}

/** Two wall clocks of the chosen zone. */
export function CustomRange({ from, to, isReversed = false, onChange }: CustomRangeProps) {
  const { t } = useTranslation()
  return (
    <div className={classes.custom}>
      <WallClockInput label={t("messages.from")} value={from} onChange={(next) => onChange({ from: next })} />
      <WallClockInput label={t("messages.to")} value={to} error={isReversed ? t("messages.faults.reversed") : null} onChange={(next) => onChange({ to: next })} />
    </div>
  )
}
