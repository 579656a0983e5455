import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { seriesColors } from "@/components/charts/palette"
import { Legend, StripChart } from "@/components/charts/strip-chart"
import type { Band, Series } from "@/components/charts/types"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import type { Job, JobProgress } from "@/lib/api-types"
import { rate } from "@/lib/format"
import { useJobProgress } from "../api/get-job-progress"
import { doneOf, hasEnded, isActive } from "../progress"
import { type Rates, ratesOf } from "../rates"
import { RateLimit } from "./rate-limit"

const HEIGHT = 130
const SHORTEST_S = 60

/** Messages a second over the whole run, with the limit the job was given. */
export function JobRate({ job }: { job: Job }) {
  const { t } = useTranslation()
  const progress = useJobProgress(job)
  const samples = progress.data?.samples
  const rates = useMemo(() => ratesOf(samples ?? []), [samples])
  const series = useSeries(job, rates)
  return (
    <QueryPanel<JobProgress>
      query={progress}
      title={t("jobs.rate")}
      note={t("jobs.rateNote")}
      actions={
        <>
          <Legend items={series.map((each) => ({ label: each.label, color: each.color, value: isActive(job) ? nowOf(each) : undefined }))} />
          {job.limits && !hasEnded(job) && <RateLimit job={job} limit={job.limits.messages_per_second} />}
        </>
      }
      what={t("jobs.rateFailed")}
      skeleton={<SkeletonBlock height={HEIGHT + 26} />}
    >
      {() => (isBlank(job, rates) ? <NoRate job={job} /> : <Chart job={job} rates={rates} series={series} />)}
    </QueryPanel>
  )
}

/** Whether there will be nothing to draw: a line needs two rates, and a rate two moments. */
function isBlank(job: Job, { read, written }: Rates): boolean {
  const known = read.filter((value) => value !== null)
  return hasEnded(job) && (known.length < 2 || ![...known, ...written].some((value) => (value ?? 0) > 0))
}

function NoRate({ job }: { job: Job }) {
  const { t } = useTranslation()
  const done = doneOf(job)
  const why = done === null ? "unknown" : done === 0 ? "nothing" : "short"
  return <Empty small title={t(`jobPages.rate.${why}`)} next={t(`jobPages.rate.${why}Next`)} />
}

function Chart({ job, rates, series }: { job: Job; rates: Rates; series: Series[] }) {
  const { t } = useTranslation()
  const limit = job.limits?.messages_per_second ?? null
  const bands = useMemo<Band[]>(
    () => [
      {
        id: "rate",
        title: t("jobs.rate"),
        height: HEIGHT,
        write: rate,
        ...(limit !== null && { levels: [{ at: limit, label: t("jobs.limit", { n: rate(limit) }) }] }),
        series,
      },
    ],
    [series, t, limit],
  )
  const begin = rates.times[0] ?? Date.parse(job.started_at ?? job.created_at) / 1000
  const end = rates.times.at(-1) ?? begin
  return <StripChart times={rates.times} range={[begin, Math.max(end, begin + (isActive(job) ? SHORTEST_S : 1))]} bands={bands} label={t("jobs.rate")} />
}

/** What a job reads, and what it writes where it writes anything. */
function useSeries({ type }: Job, { read, written }: Rates): Series[] {
  const { t } = useTranslation()
  return useMemo(() => {
    const writes = type !== "reconcile"
    return [
      { id: "read", label: t("jobs.per.reconcile"), color: writes ? "--ink-3" : seriesColors[0], values: read, dashed: writes, fill: !writes },
      ...(writes ? [{ id: "written", label: t(`jobs.per.${type}`), color: seriesColors[0], values: written, fill: true }] : []),
    ]
  }, [t, type, read, written])
}

function nowOf({ values }: Series): string {
  const value = values.at(-1) ?? null
  return value === null ? "—" : `${rate(value)}/s`
}
