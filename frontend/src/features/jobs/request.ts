import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"

type TopicRange = NonNullable<JobRequest["left"]>

export type ReplayRequest = JobRequest & Required<Pick<JobRequest, "source" | "target">>
export type ReconcileRequest = JobRequest & Required<Pick<JobRequest, "left" | "right">>

const words = (text: string | undefined) => text?.split(/[\s,]+/).filter(Boolean) ?? []

const rangeOf = (topic: string | undefined, from: string | undefined, to: string | undefined): TopicRange => ({
  topic: topic ?? "",
  ...(from && { from }),
  ...(to && { to }),
})

const positive = (text: string | undefined): number | undefined => {
  const value = Number(text)
  return text && Number.isFinite(value) && value > 0 ? value : undefined
}

const BY = ["key", "unique_id", "body", "source"] as const

/** The replay that the address describes; fields left empty are absent. */
export function replayOf(state: UrlState, cluster: string): ReplayRequest {
  const keys = words(state.keys)
  const queues = words(state.queues).map(Number).filter(Number.isInteger)
  const rate = positive(state.rate)
  const most = positive(state.max)
  return {
    type: "replay",
    ...(state.name && { name: state.name }),
    cluster,
    source: {
      ...rangeOf(state.topic, state.from, state.to),
      ...(queues.length > 0 && { queues }),
      ...(keys.length > 0 && { keys }),
      ...(state.tag && { tag: state.tag }),
    },
    target: { topic: state.target ?? "" },
    ...((rate ?? most) && { limits: { ...(rate && { messages_per_second: rate }), ...(most && { max_messages: most }) } }),
  }
}

export function reconcileOf(state: UrlState, cluster: string): ReconcileRequest {
  return {
    type: "reconcile",
    ...(state.name && { name: state.name }),
    cluster,
    left: rangeOf(state.left, state.from, state.to),
    right: rangeOf(state.right, state.rfrom ?? state.from, state.rto ?? state.to),
    by: BY.find((by) => by === state.by) ?? "key",
    compare: "body",
  }
}

/** Whether a job could start with it. */
export function isWhole(request: JobRequest): boolean {
  if (request.type === "replay") return Boolean(request.source?.topic && request.target?.topic)
  return Boolean(request.left?.topic && request.right?.topic)
}
