import type { TFunction } from "i18next"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useCluster } from "@/hooks/use-cluster"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import type { GroupSummary, Topic } from "@/lib/api-types"
import { count } from "@/lib/format"
import { mergedQueues } from "../merged-queues"
import { faultsOf, isByOffset, isNarrowed, isSourceReady, isToFile, isToItself, mostReadOf, replayOf, type ReplayRequest } from "../request"
import { isUpperBound } from "../report"
import { type DryRun, useDryRun } from "../use-dry-run"
import { useKnownGroups } from "../use-known-groups"
import { useRangeWords } from "../use-range-words"
import { DryRunButton, DryRunState } from "./dry-run-state"
import { useForecastFacts } from "./forecast-figures"
import { ForecastTables } from "./forecast-tables"
import { LimitFields, SourceFields } from "./request-fields"
import { areAllKnown, StartDecision, type Written } from "./start-decision"
import { IntoItself, TargetFields } from "./target-fields"
import { JobWizard, NameField } from "./job-wizard"

interface ReplayWizardProps {
  topics: string[]
  /** What is known of the chosen topics, by the feature that knows them. */
  source: Topic | undefined
  target: Topic | undefined
  /** The groups that consume from the target; absent while nobody knows. */
  seenBy: GroupSummary[] | undefined
  /** The clusters that a replay can write to, and the topics of the chosen one. */
  clusters: string[]
  targetTopics: string[]
  /** The queues of the source. */
  queues: ReactNode
  /** What the source stored over time. */
  stored: ReactNode
}

export function ReplayWizard({ topics, source, target, seenBy, clusters, targetTopics, queues, stored }: ReplayWizardProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const cluster = useCluster()
  const { request, written } = useReplay(state, cluster, seenBy)
  const faults = faultsOf(state)
  const name = t("jobs.replayName", { source: request.source.topic, target: titleOf(t, request.target) })
  const range = useRangeWords(request)
  const limits = useLimitWords(request)
  const dryRun = useDryRun(request)
  return (
    <JobWizard
      title={state.topic ? t("jobs.replayOf", { topic: state.topic }) : t("jobs.newReplay")}
      request={request}
      dryRun={dryRun}
      touched={{ source: isByOffset(state) ? queues : stored, start: dryRun.forecast ? <ForecastTables forecast={dryRun.forecast} topic={request.source.topic} /> : queues }}
      steps={[
        {
          id: "source",
          parts: ["source"],
          label: t("jobs.steps.source"),
          choice: state.topic && `${state.topic}${t("list.comma")}${range}`,
          isReady: isSourceReady(request.source, faults),
          fields: <SourceFields state={state} topics={topics} onChange={change} />,
        },
        {
          id: "target",
          parts: ["target"],
          label: t("jobs.steps.target"),
          choice: titleOf(t, request.target, { withCluster: true }),
          isReady: isTargetReady(state, cluster),
          fields: <TargetFields state={state} clusters={clusters} topics={targetTopics} onChange={change} />,
        },
        { id: "limits", parts: ["limits", "on_damage"], label: t("jobs.steps.limits"), choice: limits, isReady: !faults.rate && !faults.max && !faults.minutes, fields: <LimitFields state={state} onChange={change} /> },
        {
          id: "start",
          label: t("jobs.steps.start"),
          isReady: true,
          fields: <StartFields name={name} request={request} merged={mergedQueues(request, source, target)} />,
        },
      ]}
      decision={<Decision request={request} source={source} written={written} range={range} limits={limits} dryRun={dryRun} />}
    />
  )
}

/** The request that the address describes, and what its last step asks about the groups that read the target. */
function useReplay(state: UrlState, cluster: string, seenBy: GroupSummary[] | undefined): { request: ReplayRequest; written: Written | undefined } {
  const isItself = isToItself(state, cluster)
  // What was allowed for the source itself says nothing about another topic.
  const asked = replayOf(isItself ? state : { ...state, live: undefined }, cluster)
  const ticks = useKnownGroups(`${asked.target.cluster ?? cluster} ${asked.target.topic}`)
  if (isToFile(state)) return { request: asked, written: undefined }
  const written = { seenBy, ...ticks }
  // The last step names these groups, and asks for a tick for each that is there.
  const isAllowed = !isItself && state.step === "start" && Boolean(seenBy?.length) && areAllKnown(written)
  return { request: isAllowed ? { ...asked, allow_live_target: true } : asked, written }
}

function StartFields({ name, request, merged }: { name: string; request: ReplayRequest; merged: ReturnType<typeof mergedQueues> }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  return (
    <>
      <IntoItself state={state} onChange={change} />
      <NameField placeholder={name} />
      {merged && (
        <Callout>
          <b>{t("jobs.queuesMerge")}</b>{" "}
          {t("jobs.queuesMergeWords", { source: request.source.topic, target: request.target.topic, count: merged.to, from: count(merged.from), to: count(merged.to) })}
        </Callout>
      )}
      <p className="dense">{t("jobs.provenance")}</p>
    </>
  )
}

const isTargetReady = (state: UrlState, cluster: string): boolean => (isToFile(state) || Boolean(state.target)) && (!isToItself(state, cluster) || state.live === "1") && !faultsOf(state).tprops

/** What a replay writes to, in the name of its job or below its step; empty while it is not chosen. */
function titleOf(t: TFunction, { kind, cluster, topic = "" }: ReplayRequest["target"], { withCluster = false } = {}): string {
  if (kind === "parquet") return t("exporting.formats.parquet")
  return withCluster && cluster ? `${cluster} / ${topic}` : topic
}

interface DecisionProps {
  request: ReplayRequest
  source: Topic | undefined
  written: Written | undefined
  range: string
  limits: string
  dryRun: DryRun
}

/** The number is what the dry run counted, or else the most that it could be. */
function Decision({ request, source, written, range, limits, dryRun }: DecisionProps) {
  const { t } = useTranslation()
  const { forecast } = dryRun
  const isFile = request.target.kind === "parquet"
  const most = forecast?.messages ?? mostOf(request, source)
  // An expression may make a copy that is refused.
  const isExact = forecast ? !isUpperBound(forecast) : !isNarrowed(request.source) && !request.target.transform
  const amount = most === null ? null : count(most)
  const facts: [string, ReactNode][] = [
    [t("jobs.reads"), `${request.source.topic}${t("list.comma")}${range}`],
    [t("jobs.writes"), isFile ? t("jobTarget.file") : request.target.topic],
    [t("jobs.steps.limits"), limits],
  ]
  return (
    <StartDecision
      request={request}
      dryRun={<DryRunState dryRun={dryRun} />}
      hero={amount ?? "—"}
      heroWords={amount === null ? t(isExact ? "jobs.amountUnknown" : "jobs.dryRunCounts") : isExact ? t("jobs.willBeWritten") : t(forecast ? "jobs.atMostByHash" : "jobs.atMostWritten")}
      facts={[...facts, ...useForecastFacts(forecast), [t("jobs.ifItStops"), isFile ? t("exporting.beginsAnew") : t("jobs.resumes")]]}
      written={written}
      action={amount === null || !isExact ? t("jobs.replayRange") : t("jobs.replayN", { count: most ?? 0, n: amount })}
      second={<DryRunButton dryRun={dryRun} />}
    />
  )
}

/** The most a replay could write: what it reads, cut by the limit; null where only a dry run can tell. */
function mostOf({ limits, source: asked }: ReplayRequest, source: Topic | undefined): number | null {
  const read = mostReadOf(asked, source?.messages ?? null)
  const limit = limits?.max_messages ?? null
  if (read === null) return limit
  return limit === null ? read : Math.min(read, limit)
}

function useLimitWords({ limits }: ReplayRequest): string {
  const { t } = useTranslation()
  const parts = [
    limits?.messages_per_second ? t("jobs.atMost", { n: count(limits.messages_per_second) }) : "",
    limits?.max_messages ? t("jobs.atMostN", { n: count(limits.max_messages) }) : "",
    limits?.max_minutes ? t("jobs.minutes", { n: count(limits.max_minutes) }) : "",
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(t("list.comma")) : t("jobs.noLimit")
}
