import type { Rule, RuleInput, RuleLimits } from "@/lib/api-types"
import { unitOf } from "./measure"

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

export const newDraft = (cluster: string, subject: string): RuleDraft => ({
  name: "",
  metric: "group_lag",
  cluster,
  subject,
  direction: "above",
  limit: 10_000,
  forSeconds: 60,
  noDataSeconds: 60,
  severity: "warning",
  channels: [],
  template: "",
  repeatMinutes: 30,
})

export function inputOf(draft: RuleDraft): RuleInput {
  const isYesOrNo = draft.metric === "broker_silent"
  return {
    name: draft.name.trim(),
    metric: draft.metric,
    cluster: draft.cluster,
    subject: draft.subject,
    direction: isYesOrNo ? "above" : draft.direction,
    limit: isYesOrNo ? 0 : rounded(draft.limit * unitOf(draft.metric).size),
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

/** Whether everything in it can be sent. */
export const isWhole = (draft: RuleDraft): boolean =>
  draft.name.trim() !== "" &&
  draft.cluster !== "" &&
  draft.subject !== "" &&
  [draft.limit, draft.forSeconds, draft.noDataSeconds ?? 5, draft.repeatMinutes ?? 1].every(Number.isFinite) &&
  draft.limit >= 0

/** Six digits: dividing by a unit leaves crumbs. */
export const rounded = (value: number) => Number(value.toPrecision(6))
