import { useTranslation } from "react-i18next"
import { NumberField } from "@/components/forms/number-field"
import { useUrlState } from "@/hooks/use-url-state"
import { MOST_MINUTES } from "@/lib/job-limits"
import { useRefused } from "./refusals"

/** How long a job may work; `minutes` of the address. */
export function MinutesField() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const refused = useRefused()
  return (
    <NumberField
      label={t("jobs.longest")}
      description={t("jobs.longestWords")}
      error={refused("limits.max_minutes")}
      value={state.minutes === undefined ? undefined : Number(state.minutes)}
      min={1}
      max={MOST_MINUTES}
      isOptional
      onChange={(value) => change({ minutes: value === undefined ? undefined : String(value) })}
      width={240}
    />
  )
}
