import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { problemIn } from "@/lib/reasons"
import type { RunsPreview } from "../use-runs-preview"

/** The next five runs in the zone of the reader, and how far away each is. */
export function NextRuns({ preview: { runs, isChecking, error } }: { preview: RunsPreview }) {
  const { t, i18n } = useTranslation()
  const format = useFormat()
  const now = useNow(30_000)
  const ahead = runs.filter((at) => Date.parse(at) > now)
  if (error && error.status !== 422) return <p className="micro">{t("schedules.noPreview", { reason: problemIn(t, i18n.language, error) })}</p>
  if (ahead.length === 0) return null
  return (
    <div aria-busy={isChecking}>
      <span className="micro">{t("schedules.nextRuns", { zone: format.zoneLabel() })}</span>
      <ul className="dense">
        {ahead.map((at) => (
          <li key={at}>
            {format.when(at)} <span className="micro">{t("schedules.in", { time: format.duration(Date.parse(at) - now) })}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
