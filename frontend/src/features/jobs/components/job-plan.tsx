import type { TFunction } from "i18next"
import type { ReactNode } from "react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { Job, JobRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { kindOf, spanOf } from "../bounds"
import type { ReconcileRequest, ReplayRequest } from "../request"
import { titleOfSide } from "../sides"
import classes from "./jobs.module.css"
import { useNotifyFacts } from "./notify-fields"

interface JobPlanProps {
  job: Job
  /** Says from which schedule it is. */
  schedule?: ((id: string) => ReactNode) | undefined
}

/** What the job was asked to do. */
export function JobPlan({ job, schedule }: JobPlanProps) {
  const { t } = useTranslation()
  const replay = useReplayItems(job.request as Partial<ReplayRequest>, job, useRateItems(job))
  const reconcile = useReconcileItems(job.request as Partial<ReconcileRequest>, job)
  const redrive = [...useRedriveItems(job.request as Partial<RedriveRequest>, job.cluster, useRateItems(job)), ...useLetterItems(job.request as Partial<RedriveRequest>)]
  const limit: Items = job.max_minutes === null ? [] : [[t("jobs.longest"), t("jobs.minutes", { n: count(job.max_minutes) })]]
  return (
    <Panel title={t("jobs.plan")} note={job.schedule_id && <FromSchedule id={job.schedule_id} words={schedule} />}>
      <Definitions items={[...{ replay, reconcile, redrive, export: replay }[job.type], ...limit, ...useNotifyFacts(job.request as Partial<JobRequest>)]} />
    </Panel>
  )
}

function FromSchedule({ id, words }: { id: string; words: JobPlanProps["schedule"] }) {
  const { t } = useTranslation()
  return (
    <Link to="/schedules" search={{ runs: id }}>
      {words ? words(id) : t("jobs.fromSchedule")}
    </Link>
  )
}

type Items = [string, ReactNode][]

/** A bound in words: a moment, or what a schedule fills in. */
function useBound() {
  const { t } = useTranslation()
  const format = useFormat()
  return (bound: string | null | undefined, open: string): string => {
    const kind = kindOf(bound ?? undefined)
    const span = spanOf(bound ?? undefined)
    if (span) return t(`jobs.before.${span.unit}`, { count: span.amount })
    if (kind === "open") return open
    return kind === "fixed" ? format.when(bound ?? "") : t(`jobs.bounds.${kind}`)
  }
}

type Read = Partial<Pick<NonNullable<JobRequest["source"]>, "offsets"> & NonNullable<JobRequest["left"]>>

/** The rate in force, changed or not; of a job that sends nothing, the one that was asked for. */
function useRateItems({ request, limits }: Job): Items {
  const { t } = useTranslation()
  const asked = (request as Partial<JobRequest>).limits?.messages_per_second
  const rate = limits ? limits.messages_per_second : asked
  if (rate) return [[t("jobs.rate"), t("jobs.atMost", { n: count(rate) })]]
  return asked ? [[t("jobs.rate"), t("jobs.noLimit")]] : []
}

type Runs = Pick<Job, "cluster" | "attempt" | "planned_at">

/** A topic that one may look at: whatever cluster the address names, in its own. */
const TopicLink = ({ topic, cluster }: { topic: string; cluster: string }) => (
  <Link className={classes.place} to="/topics/$topic" params={{ topic }} search={{ cluster }}>
    <b>{topic}</b>
  </Link>
)

/** A range in words. One without an end ends where its topic ended when the plan was made; that of a file is often all of it. */
function useRange({ cluster, attempt, planned_at: plannedAt }: Runs) {
  const { t } = useTranslation()
  const format = useFormat()
  const bound = useBound()
  const end = plannedAt ? t("jobs.endAtStart", { time: format.when(plannedAt) }) : attempt > 0 ? t("jobs.endOfPlan") : t("time.present")
  const words = ({ topic, from, to, offsets }: Read) => {
    if (offsets) return t("jobs.offsetsOf", { queues: offsets.map(({ queue }) => queue).join(t("list.comma")) })
    if (topic) return `${bound(from, t("messages.oldest"))} – ${bound(to, end)}`
    return from || to ? `${bound(from, "…")} – ${bound(to, "…")}` : ""
  }
  return (range: Read = {}): ReactNode => (
    <>
      {range.topic ? (
        <TopicLink topic={range.topic} cluster={range.cluster ?? cluster} />
      ) : (
        <b>{titleOfSide(range)}</b>
      )}
      {words(range) && `${t("list.comma")}${words(range)}`}
      {range.cluster && <div>{t("jobs.inCluster", { cluster: range.cluster })}</div>}
    </>
  )
}

function useReplayItems({ source, target, limits, format, columns }: Partial<ReplayRequest>, runs: Runs, rate: Items): Items {
  const { t } = useTranslation()
  const range = useRange(runs)
  const chosen = useChosenItems(source)
  const copies = useCopyItems(target)
  const { cluster } = runs
  const found = (source as { positions?: { job: string; file: string } } | undefined)?.positions
  const items: Items = [[t("jobs.reads"), found && source ? <Found topic={source.topic} cluster={cluster} {...found} /> : range(source)]]
  if (target?.topic) items.push([
      t("jobs.writes"),
      <>
        <TopicLink topic={target.topic} cluster={target.cluster ?? cluster} />
        {target.cluster && <div>{t("jobs.inCluster", { cluster: target.cluster })}</div>}
      </>,
    ])
  if (target?.kind === "parquet") items.push([t("jobs.writes"), t("jobTarget.file")])
  if (format) items.push([t("exporting.file"), <span className="mono">messages.{format}</span>])
  if (columns) items.push([t("exporting.columns"), <span className="mono">{columns.join(" ")}</span>])
  items.push(...chosen, ...copies, ...rate)
  if (limits?.max_messages) items.push([t("jobs.most"), count(limits.max_messages)])
  return items
}

/** Exactly the messages that a comparison found missing, or that a replay could not copy. */
function Found({ topic, cluster, job, file }: { topic: string; cluster: string; job: string; file: string }) {
  const { t } = useTranslation()
  return (
    <>
      <TopicLink topic={topic} cluster={cluster} />
      <div>
        <Link to="/jobs/$job" params={{ job }} search={{}}>
          {t(file === "failures.jsonl" ? "jobPages.plan.foundRefused" : "jobPages.plan.foundMissing")}
        </Link>
      </div>
    </>
  )
}

/** Which messages of the range are meant. */
function useChosenItems(source: JobRequest["source"]): Items {
  const { t } = useTranslation()
  const items: Items = []
  if (source?.where) items.push([t("jobs.where"), <span className="mono">{source.where}</span>])
  if (source?.queues?.length) items.push([t("jobs.queues"), source.queues.join(t("list.comma"))])
  if (source?.keys_file) items.push([t("jobPages.plan.keysFile"), <span className="mono">{source.keys_file}</span>])
  if (source?.keys?.length) items.push([t("jobs.keys"), <span className="mono">{source.keys.join(" ")}</span>])
  if (source?.tag) items.push([t("jobs.tag"), source.tag])
  return items
}

/** How copies differ from their originals. */
function useCopyItems(target: JobRequest["target"]): Items {
  const { t } = useTranslation()
  const { properties = {}, ...changed } = target?.transform ?? {}
  const expressions = Object.entries({ ...changed, ...properties })
  const items: Items = []
  if (expressions.length > 0)
    items.push([
      t("jobs.transform"),
      <>
        {expressions.map(([name, sql]) => (
          <div key={name} className="mono">
            {name} = {sql}
          </div>
        ))}
      </>,
    ])
  if (target?.order === "key") items.push([t("jobPages.plan.order"), t("jobPages.plan.byKey")])
  if (target?.preserve?.length) items.push([t("jobPages.plan.kept"), target.preserve.map((what) => t(`jobPages.plan.preserved.${what}`)).join(t("list.comma"))])
  return items
}

/** What must be equal of a pair: fields by name, and values by the names that the request gave them. */
function comparedWords(t: TFunction, compare: JobRequest["compare"] = "body"): ReactNode {
  if (compare === "none" || compare === "body") return t(`compareFields.${compare === "none" ? "noneWords" : "names.body"}`)
  return compare.map((field) => (
    <div key={typeof field === "string" ? field : field.name}>
      {typeof field === "string" ? (
        t(`compareFields.names.${field}`)
      ) : (
        <span className="mono">
          {field.name}: {field.left === field.right ? field.left : `${field.left} | ${field.right}`}
          {field.tolerance !== undefined && ` ± ${field.tolerance}`}
        </span>
      )}
    </div>
  ))
}

interface RedriveRequest {
  group: string
  target: { to: "failed_group" | "origin" | "other"; topic?: string }
  limits: { messages_per_second: number; max_messages: number }
  filter: { causes?: (string | null)[]; topics?: string[]; ids?: string[]; key?: string; from?: string; to?: string }
}

/** Which dead letters of the group are meant. */
function useLetterItems({ filter = {} }: Partial<RedriveRequest>): Items {
  const { t } = useTranslation()
  const bound = useBound()
  const { causes, topics, ids, key, from, to } = filter
  const items: Items = []
  if (causes) items.push([t("jobPages.plan.causes"), causes.map((cause) => <div key={cause}>{cause ?? t("jobPages.plan.noCause")}</div>)])
  if (topics) items.push([t("jobPages.plan.cameFrom"), topics.join(t("list.comma"))])
  if (ids) items.push([t("jobPages.plan.picked"), t("reconcile.times", { count: ids.length, n: count(ids.length) })])
  if (key !== undefined) items.push([t("jobs.keys"), <span className="mono">{key}</span>])
  if (from ?? to) items.push([t("jobPages.plan.givenUp"), `${bound(from, "…")} – ${bound(to, "…")}`])
  return items
}

function useRedriveItems({ group = "", target, limits }: Partial<RedriveRequest>, cluster: string, rate: Items): Items {
  const { t } = useTranslation()
  return [
    [
      t("jobs.deadLettersOf"),
      <Link to="/groups/$group" params={{ group }} search={{ cluster }}>
        <b>{group}</b>
      </Link>,
    ],
    [t("jobs.sendsTo"), target?.topic ? <TopicLink topic={target.topic} cluster={cluster} /> : t(`jobs.sendsTo_.${target?.to === "origin" ? "origin" : "failed_group"}`)],
    ...rate,
    [t("jobs.most"), count(limits?.max_messages ?? 0)],
    [t("jobs.originals"), t("jobs.originalsStay")],
  ]
}

function useReconcileItems({ left, right, by, check, compare }: Partial<ReconcileRequest>, runs: Runs): Items {
  const { t } = useTranslation()
  const range = useRange(runs)
  if (check) return [[t("jobs.reads"), t("sides.wholeStore")]]
  if (!left || !right) return []
  const side = (asked: NonNullable<JobRequest["left"]>) => (
    <>
      {range(asked)}
      {asked.group && <div>{t("jobs.consumedBy", { group: asked.group })}</div>}
      {asked.where && <div className="mono">{asked.where}</div>}
    </>
  )
  return [
    [t("jobs.left"), side(left)],
    [t("jobs.right"), side(right)],
    [t("jobs.joinBy"), typeof by === "object" ? <span className="mono">{`${by.left} = ${by.right}`}</span> : t(`jobs.by_.${by ?? "key"}`)],
    [t("compareFields.fields"), comparedWords(t, compare)],
  ]
}
