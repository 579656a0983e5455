import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { ScheduledSummary } from "@/lib/api-types"
import { count } from "@/lib/format"
import { HOUR_MS } from "../api/get-summary"
import { leftUntil } from "../days"
import { atLeast, without } from "../without"

/** Waiting, next, due soon, furthest, and how well the last day went. */
export function ScheduledFigures({ summary }: { summary: ScheduledSummary }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const { topics, last_day: day, missing } = summary
  const first = [...topics].sort((one, other) => one.first_due_at.localeCompare(other.first_due_at))[0]
  const last = [...topics].sort((one, other) => other.last_due_at.localeCompare(one.last_due_at))[0]
  const left = first ? leftUntil(first.first_due_at, now) : 0
  const soon = summary.buckets.filter(({ from }) => Date.parse(from) <= now && now < Date.parse(from) + HOUR_MS)
  const none = missing[0] ? <Unknown reason={missing[0].reason} /> : "—"
  const figures = [
    { label: t("scheduled.waiting"), value: atLeast(count(summary.waiting), missing), fact: t("scheduled.inTopics", { count: topics.length }) },
    {
      label: t("scheduled.next"),
      value: first ? format.when(first.first_due_at) : none,
      fact: first ? (left > 0 ? t("scheduled.nextFact", { topic: first.topic, duration: format.duration(left) }) : `${first.topic}${t("list.comma")}${t("time.now")}`) : "",
    },
    { label: t("scheduled.thisHour"), value: atLeast(count(soon.reduce((sum, { due }) => sum + due, 0)), missing), fact: t("scheduled.thisHourFact") },
    { label: t("scheduled.furthest"), value: last ? format.when(last.last_due_at) : none, fact: last?.topic ?? "" },
    {
      label: t("scheduled.late"),
      value: day ? (day.delivered === 0 ? none : atLeast(count(day.late), missing)) : <Unknown />,
      fact: day ? day.delivered === 0 ? t("scheduled.noneDelivered") : t("scheduled.lateFact", { worst: format.duration(day.worst_late_ms), delivered: count(day.delivered) }) : "",
      tone: day && day.late > 0 ? "warn" : undefined,
    },
    { label: t("scheduled.recalled"), value: day ? atLeast(count(day.recalled), missing) : <Unknown />, fact: t("scheduled.recalledFact") },
  ] satisfies KeyFigure[]
  return <TitleBlock figures={figures.map((figure) => ({ ...figure, fact: without(t, figure.fact, missing) }))} />
}
