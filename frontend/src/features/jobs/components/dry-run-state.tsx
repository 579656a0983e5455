import { Button } from "@mantine/core"
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconLoader } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { problemIn } from "@/lib/reasons"
import { causeOf } from "../cause"
import type { DryRun } from "../use-dry-run"
import classes from "./jobs.module.css"
import { RefusedFields } from "@/components/wizard/refused-fields"

/** How the dry run stands, in one line and what follows from it. */
export function DryRunState({ dryRun: { forecast, job, isRunning, isOld, refused } }: { dryRun: DryRun }) {
  const { t, i18n } = useTranslation()
  const cause = job && causeOf(t, i18n.language, job)
  const [tone, Icon, title, words] = ((): [string | undefined, typeof IconLoader, string, string | null | undefined] => {
    if (refused && !isRunning) return ["crit", IconCircleX, t("forecast.refused"), problemIn(t, i18n.language, refused)]
    if (isRunning) return [undefined, IconLoader, t("forecast.running"), t("forecast.runningWords")]
    if (forecast) return ["ok", IconCircleCheck, t(forecast.messages > 0 ? "forecast.done" : "forecast.nothing"), undefined]
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
