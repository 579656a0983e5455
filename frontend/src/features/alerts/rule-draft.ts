import { isWithin } from "@/components/forms/number-field"
import type { Rule, RuleInput, RuleLimits } from "@/lib/api-types"
import { isYesOrNo, unitOf } from "./measure"

/** A rule as a form holds it: numbers in the units of the form. */
export interface RuleDraft {
  name: string
  metric: Rule["metric"]
  cluster: string
  subject: string
  direction: Rule["direction"]
  limit: number
  forSeconds: number
  /** NaN is no number; undefined is never. */
  noDataSeconds: number | undefined
  severity: Rule["severity"]
  channels: string[]
  template: string
  repeatMinutes: number | undefined
}

const seconds = (ms: number | null) => (ms === null ? undefined : ms / 1000)

export const draftOf = (rule: Rule): RuleDraft => ({
  name: rule.name,
  metric: rule.metric,
  cluster: rule.cluster,
  subject: rule.subject,
  direction: rule.direction,
  limit: rounded(rule.limit / unitOf(rule.metric).size),
  forSeconds: rule.for_ms / 1000,
  noDataSeconds: seconds(rule.no_data_after_ms),
  severity: rule.severity,
  channels: rule.channels,
  template: rule.template,
  repeatMinutes: rule.repeat_ms === null ? undefined : rule.repeat_ms / 60_000,
})

const GROUP_LAG = 10_000
/** Limits to begin with, in the units of the form; one failure less is too much already. */
const FIRST_LIMITS: Partial<Record<Rule["metric"], number>> = { group_lag: GROUP_LAG, replica_lag_bytes: 256, replica_lag_ms: 10, replicas_out_of_sync: 0, replicas_unclean: 0, elections_per_hour: 0, controllers_silent: 0, controller_engine_used: 50 }

/** The draft with another metric; a limit that was typed stays. */
export const withMetric = (draft: RuleDraft, metric: Rule["metric"]): RuleDraft => ({
  ...draft,
  metric,
  limit: draft.limit === (FIRST_LIMITS[draft.metric] ?? GROUP_LAG) ? (FIRST_LIMITS[metric] ?? GROUP_LAG) : draft.limit,
})

export const newDraft = (cluster: string, subject: string): RuleDraft => ({
  name: "",
  metric: "group_lag",
  cluster,
  subject,
  direction: "above",
  limit: GROUP_LAG,
  forSeconds: 60,
  noDataSeconds: 60,
  severity: "warning",
  channels: [],
  template: "",
  repeatMinutes: 30,
})

export function inputOf(draft: RuleDraft): RuleInput {
  const isAnswer = isYesOrNo(draft.metric)
  return {
    name: draft.name.trim(),
    metric: draft.metric,
    cluster: draft.cluster,
    subject: draft.subject,
    direction: isAnswer ? "above" : draft.direction,
    limit: isAnswer ? 0 : rounded(draft.limit * unitOf(draft.metric).size),
    for_ms: draft.forSeconds * 1000,
    no_data_after_ms: draft.noDataSeconds === undefined ? null : draft.noDataSeconds * 1000,
    severity: draft.severity,
    channels: draft.channels,
    template: draft.template,
    repeat_ms: draft.repeatMinutes === undefined ? null : draft.repeatMinutes * 60_000,
  }
}

/** The part of a rule that a preview needs. */
export const limitsOf = ({ metric, cluster, subject, direction, limit, for_ms, no_data_after_ms }: RuleInput): RuleLimits => ({
  metric,
  limit,
  ...(cluster !== undefined && { cluster }),
  ...(subject !== undefined && { subject }),
  ...(direction && { direction }),
  ...(for_ms !== undefined && { for_ms }),
  ...(no_data_after_ms !== undefined && { no_data_after_ms }),
})

export const FOR_SECONDS = { min: 0, max: 86_400 }
export const NO_DATA_SECONDS = { min: 5, max: 86_400 }
export const REPEAT_MINUTES = { min: 1, max: 10_080 }
const LARGEST = 1e15

type DraftFault = { kind: "required" | "noNumber" } | { kind: "atLeast" | "atMost"; n: number } | { kind: "range" }

/** What of a draft cannot be sent, by its field; the fields of whole numbers say themselves what is wrong with theirs. */
export function faultsOf(draft: RuleDraft): Partial<Record<"name" | "cluster" | "subject" | "limit" | "for" | "noData" | "repeat", DraftFault>> {
  const { forSeconds, noDataSeconds: noData, repeatMinutes: repeat } = draft
  const limit = limitFault(draft)
  return {
    ...(draft.name.trim() === "" && { name: { kind: "required" } }),
    ...(draft.cluster.trim() === "" && { cluster: { kind: "required" } }),
    ...(draft.subject.trim() === "" && { subject: { kind: "required" } }),
    ...(limit && { limit }),
    ...(!isWithin(forSeconds, FOR_SECONDS) && { for: { kind: "range" } }),
    ...(noData !== undefined && !isWithin(noData, NO_DATA_SECONDS) && { noData: { kind: "range" } }),
    ...(repeat !== undefined && !isWithin(repeat, REPEAT_MINUTES) && { repeat: { kind: "range" } }),
  }
}

function limitFault({ metric, limit }: RuleDraft): DraftFault | null {
  if (isYesOrNo(metric)) return null
  const most = LARGEST / unitOf(metric).size
  if (!Number.isFinite(limit)) return { kind: "noNumber" }
  if (limit < 0) return { kind: "atLeast", n: 0 }
  return limit > most ? { kind: "atMost", n: most } : null
}

/** Bounds that the API names, in the units in which the form asks. */
export function inUnits(fields: Readonly<Record<string, string>>, metric: Rule["metric"]): Record<string, string> {
  const sizes: Record<string, number> = { for_ms: 1_000, no_data_after_ms: 1_000, repeat_ms: 60_000, limit: unitOf(metric).size }
  const converted = (name: string, detail: string) => detail.replace(/(?<=than or equal to )[\d.]+\d/, (bound) => String(rounded(Number(bound) / (sizes[name] ?? 1))))
  return Object.fromEntries(Object.entries(fields).map(([name, detail]) => [name, converted(name, detail)]))
}

/** Six digits: dividing by a unit leaves crumbs. */
export const rounded = (value: number) => Number(value.toPrecision(6))
