import { Button } from "@mantine/core"
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconClockPause, IconLoader } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { problemIn } from "@/lib/reasons"
import { causeOf } from "../cause"
import type { Forecast } from "../report"
import type { DryRun } from "../use-dry-run"
import { End } from "./job-hero"
import classes from "./jobs.module.css"
import { RefusedFields } from "@/components/wizard/refused-fields"

/** How the dry run stands, in one line and what follows from it. */
export function DryRunState({ dryRun: { forecast, job, isRunning, isOld, refused } }: { dryRun: DryRun }) {
  const { t, i18n } = useTranslation()
  const cause = job && causeOf(t, i18n.language, job)
  const [tone, Icon, title, words] = ((): [string | undefined, typeof IconLoader, string, ReactNode] => {
    if (refused && !isRunning) return ["crit", IconCircleX, t("forecast.refused"), problemIn(t, i18n.language, refused)]
    if (isRunning) return [undefined, ...whileOn(t, job)]
    if (forecast?.refused) return ["crit", IconCircleX, t("forecast.refusing", { n: count(forecast.refused) }), forecast.failures?.[0]?.reason]
    if (forecast) return ["ok", IconCircleCheck, t(wentWell(forecast)), undefined]
    if (job) return ["crit", IconCircleX, cause?.title ?? t("forecast.failed"), cause?.next]
    return [undefined, IconCircleDashed, t("forecast.run"), t(isOld ? "forecast.old" : "forecast.none")]
  })()
  return (
    <div role="status">
      <h3 data-tone={tone} className={classes.verdict}>
        <Icon size={16} stroke={1.6} aria-hidden />
        {title}
      </h3>
      {words && <p className="micro">{words}</p>}
      {job && !forecast && !isRunning && cause?.detail && <p className="micro">{cause.detail}</p>}
      {refused && !isRunning && <RefusedFields fields={refused.fields} />}
      {job && !forecast && !isRunning && (
        <Link to="/jobs/$job" params={{ job: job.id }} search={{}}>
          {t("jobs.log")}
        </Link>
      )}
    </div>
  )
}

/** One that waits counts nothing, and may not for long: why stands there as on its page. */
function whileOn(t: TFunction, job: Job | undefined): [typeof IconLoader, string, ReactNode] {
  if (!job) return [IconLoader, t("forecast.asking"), undefined]
  if (job.state === "queued" || job.state === "paused") return [IconClockPause, t(`forecast.waiting.${job.state}`), <End key="why" job={job} />]
  return [IconLoader, t("forecast.running"), t("forecast.runningWords")]
}

/** It claims what was tried and no more: whether the target takes the copies shows when the job runs. */
function wentWell({ messages, refused }: Forecast) {
  if (messages === 0) return "forecast.nothing"
  return refused === 0 ? "forecast.tried" : "forecast.done"
}

export function DryRunButton({ dryRun: { forecast, isOld, isRunning, start } }: { dryRun: DryRun }) {
  const { t } = useTranslation()
  return (
    <NeedsRight right="jobs">
      <Button size="md" loading={isRunning} onClick={start}>
        {t(forecast || isOld ? "forecast.again" : "forecast.run")}
      </Button>
    </NeedsRight>
  )
}
