import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import type { Forecast } from "../report"
import type { ReplayRequest } from "../request"
import { useForecastFacts } from "./forecast-figures"
import { ForecastTables } from "./forecast-tables"
import classes from "./jobs.module.css"

/** What a dry run found, on the page of its job. */
export function DryRunReport({ job }: { job: Job }) {
  const { t } = useTranslation()
  const { source } = job.request as Partial<ReplayRequest>
  return (
    <QueryBody query={useJobReport(job)} what={t("reconcile.failed")}>
      {(report) => (
        <>
          <Found forecast={report as unknown as Forecast} />
          <ForecastTables forecast={report as unknown as Forecast} topic={source?.topic ?? ""} />
        </>
      )}
    </QueryBody>
  )
}

function Found({ forecast }: { forecast: Forecast }) {
  const { t } = useTranslation()
  return (
    <Panel>
      <div className={classes.big}>
        <strong>{count(forecast.messages)}</strong> <span>{t("forecast.wrote")}</span>
      </div>
      <Definitions items={useForecastFacts(forecast)} />
    </Panel>
  )
}
