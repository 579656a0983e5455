import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { nextRuns } from "../cron"

/** The next five runs in the zone of the reader, and how far away each is. */
export function RunsPreview({ cron, zone }: { cron: string; zone: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow(30_000)
  const runs = useMemo(() => nextRuns(cron, zone, now), [cron, zone, now])
  if (runs.length === 0) return null
  return (
    <div>
      <span className="micro">{t("schedules.nextRuns", { zone: format.zoneLabel() })}</span>
      <ul className="dense">
        {runs.map((at) => (
          <li key={at}>
            {format.when(at)} <span className="micro">{t("schedules.in", { time: format.duration(at - now) })}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
