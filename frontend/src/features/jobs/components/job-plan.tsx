import type { ReactNode } from "react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { Job, JobRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { kindOf, spanOf } from "../bounds"
import type { ReconcileRequest, ReplayRequest } from "../request"

/** What the job was asked to do. */
export function JobPlan({ job }: { job: Job }) {
  const { t } = useTranslation()
  const replay = useReplayItems(job.request as Partial<ReplayRequest>, job.started_at)
  const reconcile = useReconcileItems(job.request as Partial<ReconcileRequest>, job.started_at)
  const redrive = useRedriveItems(job.request as Partial<RedriveRequest>)
  return (
    <Panel title={t("jobs.plan")} note={job.schedule_id && <Link to="/schedules">{t("jobs.fromSchedule")}</Link>}>
      <Definitions items={{ replay, reconcile, redrive, export: replay }[job.type]} />
    </Panel>
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

/** A range in words. One without an end ends where its topic ended when the job began. */
function useRange(startedAt: string | null) {
  const { t } = useTranslation()
  const format = useFormat()
  const bound = useBound()
  const end = startedAt ? t("jobs.endAtStart", { time: format.when(startedAt) }) : t("time.present")
  return (range: Partial<Pick<NonNullable<JobRequest["source"]>, "topic" | "from" | "to" | "offsets">> | undefined): ReactNode => (
    <>
      <Link to="/topics/$topic" params={{ topic: range?.topic ?? "" }}>
        <b>{range?.topic}</b>
      </Link>
      {t("list.comma")}
      {range?.offsets
        ? t("jobs.offsetsOf", { queues: range.offsets.map(({ queue }) => queue).join(t("list.comma")) })
        : `${bound(range?.from, t("messages.oldest"))} – ${bound(range?.to, end)}`}
    </>
  )
}

function useReplayItems({ source, target, limits, format, columns }: Partial<ReplayRequest>, startedAt: string | null): Items {
  const { t } = useTranslation()
  const range = useRange(startedAt)
  const chosen = useChosenItems(source)
  const copies = useCopyItems(target)
  const items: Items = [[t("jobs.reads"), range(source)]]
  if (target?.topic) items.push([t("jobs.writes"), <b>{target.topic}</b>])
  if (format) items.push([t("exporting.file"), <span className="mono">messages.{format}</span>])
  if (columns) items.push([t("exporting.columns"), <span className="mono">{columns.join(" ")}</span>])
  items.push(...chosen, ...copies)
  if (limits?.messages_per_second) items.push([t("jobs.rate"), t("jobs.atMost", { n: count(limits.messages_per_second) })])
  if (limits?.max_messages) items.push([t("jobs.most"), count(limits.max_messages)])
  return items
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

interface RedriveRequest {
  group: string
  target: { to: "failed_group" | "origin" | "other"; topic?: string }
  limits: { messages_per_second: number; max_messages: number }
}

function useRedriveItems({ group = "", target, limits }: Partial<RedriveRequest>): Items {
  const { t } = useTranslation()
  return [
    [
      t("jobs.deadLettersOf"),
      <Link to="/groups/$group" params={{ group }}>
        <b>{group}</b>
      </Link>,
    ],
    [t("jobs.sendsTo"), target?.topic ? <b>{target.topic}</b> : t(`jobs.sendsTo_.${target?.to === "origin" ? "origin" : "failed_group"}`)],
    [t("jobs.rate"), t("jobs.atMost", { n: count(limits?.messages_per_second ?? 0) })],
    [t("jobs.most"), count(limits?.max_messages ?? 0)],
    [t("jobs.originals"), t("jobs.originalsStay")],
  ]
}

function useReconcileItems({ left, right, by }: Partial<ReconcileRequest>, startedAt: string | null): Items {
  const { t } = useTranslation()
  const range = useRange(startedAt)
  // A store that is checked against itself has no sides.
  if (!left || !right) return []
  // A side may be a file or a database.
  const side = (asked: NonNullable<JobRequest["left"]>) => (asked.topic ? range(asked) : <b>{asked.path ?? [asked.connection, asked.table].filter(Boolean).join(" ")}</b>)
  return [
    [t("jobs.left"), side(left)],
    [t("jobs.right"), side(right)],
    [t("jobs.joinBy"), typeof by === "object" ? `${by.left} = ${by.right}` : t(`jobs.by_.${by ?? "key"}`)],
  ]
}
