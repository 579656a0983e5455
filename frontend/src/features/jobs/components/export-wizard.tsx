import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { useCluster } from "@/hooks/use-cluster"
import { useMayOn } from "@/hooks/use-right-on"
import { useUrlState } from "@/hooks/use-url-state"
import type { Topic } from "@/lib/api-types"
import { count } from "@/lib/format"
import { columnsOf } from "../export-columns"
import { type ExportRequest, exportOf, faultsOf, isByOffset, isNarrowed, isSourceReady, mostReadOf } from "../request"
import { isUpperBound } from "../report"
import { type DryRun, useDryRun } from "../use-dry-run"
import { DryRunButton, DryRunState } from "./dry-run-state"
import { FileFields } from "./export-fields"
import { useForecastFacts } from "./forecast-figures"
import { ForecastTables } from "./forecast-tables"
import { useRangeWords } from "../use-range-words"
import { SourceFields } from "./request-fields"
import { StartDecision, useTimeFacts } from "./start-decision"
import { JobWizard, NameField } from "./job-wizard"

interface ExportWizardProps {
  topics: string[]
  /** What is known of the chosen topic, by the feature that knows it. */
  source: Topic | undefined
  /** The queues of the topic. */
  queues: ReactNode
  /** What the topic stored over time. */
  stored: ReactNode
}

export function ExportWizard({ topics, source, queues, stored }: ExportWizardProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const request = exportOf(state, useCluster())
  const range = useRangeWords(request)
  const dryRun = useDryRun(request)
  const topic = request.source.topic
  const name = t("jobs.exportName", { topic, format: t(`exporting.formats.${request.format}`) })
  return (
    <JobWizard
      title={topic ? t("exporting.titleOf", { topic }) : t("exporting.title")}
      request={request}
      dryRun={dryRun}
      touched={{ source: isByOffset(state) ? queues : stored, start: dryRun.forecast ? <ForecastTables forecast={dryRun.forecast} topic={topic} /> : queues }}
      steps={[
        {
          id: "source",
          parts: ["source"],
          label: t("jobs.steps.source"),
          choice: topic && `${topic}${t("list.comma")}${range}`,
          isReady: isSourceReady(request.source, faultsOf(state)),
          fields: <SourceFields state={state} topics={topics} onChange={change} />,
        },
        {
          id: "file",
          parts: ["format", "columns", "limits", "on_damage"],
          label: t("exporting.file"),
          choice: t(`exporting.formats.${request.format}`),
          isReady: !faultsOf(state).minutes,
          fields: <FileFields state={state} onChange={change} />,
        },
        { id: "start", label: t("jobs.steps.start"), isReady: true, fields: <NameField placeholder={name} /> },
      ]}
      decision={<Decision request={request} source={source} range={range} dryRun={dryRun} />}
    />
  )
}

interface DecisionProps {
  request: ExportRequest
  source: Topic | undefined
  range: string
  dryRun: DryRun
}

/** The number is what the dry run counted, or else the most that it could be. */
function Decision({ request, source, range, dryRun }: DecisionProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const columns = columnsOf(state, useMayOn("bodies", "topic", state.topic))
  const { forecast } = dryRun
  const most = forecast?.messages ?? mostReadOf(request.source, source?.messages ?? null)
  const isExact = forecast ? !isUpperBound(forecast) : !isNarrowed(request.source)
  const amount = most === null ? null : count(most)
  return (
    <StartDecision
      request={request}
      dryRun={<DryRunState dryRun={dryRun} />}
      hero={amount ?? "—"}
      heroWords={amount === null ? t(isExact ? "jobs.amountUnknown" : "jobs.dryRunCounts") : isExact ? t("exporting.willBe") : t(forecast ? "jobs.atMostByHash" : "jobs.atMostRead")}
      facts={[
        [t("jobs.reads"), `${request.source.topic}${t("list.comma")}${range}`],
        [t("exporting.file"), <span className="mono">messages.{request.format}</span>],
        [t("exporting.columns"), <span className="mono">{columns.join(" ")}</span>],
        ...useTimeFacts(request),
        ...useForecastFacts(forecast),
        [t("jobs.ifItStops"), t("exporting.beginsAnew")],
      ]}
      action={amount === null || !isExact ? t("exporting.startRange") : t("exporting.start", { count: most ?? 0, n: amount })}
      second={<DryRunButton dryRun={dryRun} />}
    />
  )
}
