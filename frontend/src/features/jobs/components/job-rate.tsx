import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { seriesColors } from "@/components/charts/palette"
import { Legend, StripChart } from "@/components/charts/strip-chart"
import type { Band } from "@/components/charts/types"
import { Panel } from "@/components/layout/panel"
import { useNow } from "@/hooks/use-now"
import { useTail } from "@/hooks/use-tail"
import type { Job } from "@/lib/api-types"
import { rate } from "@/lib/format"

/** The rate since the page was opened, with the limit the job was given. */
export function JobRate({ job }: { job: Job }) {
  const { t } = useTranslation()
  const now = useNow()
  const speed = job.rate
  const tail = useTail<"rate">(job.id, useMemo(() => ({ at: now, values: { rate: speed } }), [now, speed]))
  const limit = limitOf(job)
  const bands = useMemo<Band[]>(
    () => [
      {
        id: "rate",
        title: t("jobs.rate"),
        height: 130,
        write: rate,
        ...(limit !== null && { levels: [{ at: limit, label: t("jobs.limit", { n: rate(limit) }) }] }),
        series: [{ id: "rate", label: t("jobs.rate"), color: seriesColors[0], values: tail.map(({ values }) => values.rate ?? null), fill: true }],
      },
    ],
    [tail, t, limit],
  )
  const times = useMemo(() => tail.map(({ at }) => at / 1000), [tail])
  const end = times.at(-1) ?? now / 1000
  return (
    <Panel
      title={t("jobs.rate")}
      note={t("jobs.rateNote")}
      actions={<Legend items={[{ label: t(`jobs.per.${job.type}`), value: speed === null ? "—" : `${rate(speed)}/s`, color: seriesColors[0] }]} />}
    >
      <StripChart times={times} range={[Math.min(times[0] ?? end, end - 60), end]} bands={bands} label={t("jobs.rate")} />
    </Panel>
  )
}

function limitOf({ request }: Job): number | null {
  const limits = (request as { limits?: { messages_per_second?: unknown } | null }).limits
  return typeof limits?.messages_per_second === "number" ? limits.messages_per_second : null
}
