import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { ProgressRail } from "@/components/rail/rail"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { Job } from "@/lib/api-types"
import { bytes, count, percent, rate } from "@/lib/format"
import { useJobWorkers } from "../api/get-job-workers"
import { doneOf, isActive, plannedOf, progressOf, tookMs } from "../progress"
import { waitingOf } from "../waiting"
import classes from "./jobs.module.css"

const known = (value: number | null): string => (value === null ? "—" : count(value))

/** How far it is, when it ends, and what was counted. */
export function JobHero({ job }: { job: Job }) {
  const { t } = useTranslation()
  const ratio = progressOf(job)
  const done = doneOf(job)
  const planned = plannedOf(job)
  return (
    <Panel>
      <div className={classes.hero}>
        <strong>{ratio === null ? "—" : percent(ratio)}</strong>
        <span>
          {planned === null
            ? t(`jobs.doneOnly.${job.type}`, { count: done ?? 0, n: known(done) })
            : t(`jobs.doneOf.${job.type}`, { n: known(done), total: count(planned) })}
        </span>
        <span>
          <End job={job} />
        </span>
      </div>
      <div className={classes.whole}>
        <ProgressRail tall ratio={ratio ?? 0} />
      </div>
      <TitleBlock inside figures={useCounters(job)} />
    </Panel>
  )
}

const HOUR_MS = 3_600_000

/** When it ends, as far as that is known, and why it waits. */
export function End({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  if (job.next_try_at) return <>{t("jobs.nextTry", { time: format.when(job.next_try_at), n: job.retries + 1, most: job.max_retries })}</>
  if (job.finished_at) return <>{t("jobs.ended", { time: format.when(job.finished_at) })}</>
  if (job.state === "queued") return <Waits job={job} />
  if (job.state === "paused") return <>{t("jobs.isPaused")}</>
  if (job.pause_requested) return <>{t("jobs.isPausing")}</>
  if (job.eta_ms === null) return <>{t("jobs.noEstimate")}</>
  // Seconds would promise too much over an hour.
  const left = job.eta_ms > HOUR_MS ? Math.round(job.eta_ms / 60_000) * 60_000 : job.eta_ms
  return (
    <>
      {t("jobs.endsAbout")} <b>{format.clock(now + left)}</b>
      {t("jobs.toGo", { time: format.duration(left) })}
    </>
  )
}

/** Why it waits, and at which place. */
function Waits({ job }: { job: Job }) {
  const { t } = useTranslation()
  const waiting = waitingOf(job, useJobWorkers().data)
  if (waiting === null) return <>{t("jobs.waits")}</>
  const { why, place, all, atOnce } = waiting
  if (why === "noWorker" || why === "unknown" || why === "scheduleRun" || why === "share") return <>{t(`jobPages.place.${why}`)}</>
  if (place === null) return <>{t("jobs.waits")}</>
  if (why === "full") return <>{t("jobPages.place.full", { place, all, count: atOnce })}</>
  return <>{t(job.schedule_id === null ? "jobPages.place.next" : "jobPages.place.nextOfSchedule", { place, all })}</>
}

function useCounters(job: Job): KeyFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const { counters } = job
  const took = tookMs(job, now)
  const speed = job.rate !== null && isActive(job) ? `${rate(job.rate)}/s` : ""
  const failed: KeyFigure = {
    label: t("jobs.counters.failed"),
    value: count(counters.failed),
    fact: counters.failed ? t("jobs.seeReport") : "",
    tone: counters.failed ? "warn" : undefined,
  }
  return [
    { label: t("jobs.counters.planned"), value: known(counters.planned) },
    { label: t("jobs.counters.read"), value: known(counters.read), fact: job.type === "reconcile" ? speed : "" },
    { label: t("jobs.counters.matched"), value: known(counters.matched) },
    ...(job.type === "redrive" ? [{ label: t("jobs.counters.skipped"), value: count(counters.skipped) }] : []),
    ...(job.type !== "reconcile"
      ? [
          { label: t("jobs.counters.written"), value: count(counters.written), fact: speed || (counters.bytes ? bytes(counters.bytes) : "") },
          { label: t("jobs.counters.filtered"), value: known(counters.filtered) },
        ]
      : []),
    ...(counters.damaged ? [{ label: t("jobs.counters.damaged"), value: count(counters.damaged), fact: t("jobs.seeReport"), tone: "warn" as const }] : []),
    failed,
    ...(counters.unknown ? [{ label: t("jobs.counters.unknown"), value: count(counters.unknown), tone: "warn" as const }] : []),
    {
      label: job.state === "running" ? t("jobs.runningFor") : t("jobs.ranFor"),
      value: took === null ? "—" : format.duration(took),
      fact: job.attempt > 1 ? t("jobs.attempt", { n: job.attempt }) : "",
    },
  ]
}
