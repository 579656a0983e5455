import type { GroupQueue } from "@/lib/api-types"

/** What the lag of each queue was at a moment. */
export interface QueueLags {
  at: number
  lags: ReadonlyMap<string, number>
}

export const queueId = ({ topic, broker, queue_id }: GroupQueue): string => `${topic} ${broker} ${queue_id}`

export function lagsOf(at: number, queues: readonly GroupQueue[]): QueueLags {
  const known = queues.filter((queue) => queue.lag !== null)
  return { at, lags: new Map(known.map((queue) => [queueId(queue), queue.lag ?? 0])) }
}

const WATCHED_MS = 20_000
const NOTABLE = 100
const LEAST_RISE = 20
const LEAST_SHARE = 0.005

/** The queues whose lag is notable and rose over the watched time: worth an amber rail. */
export function growingQueues(past: readonly QueueLags[], now: QueueLags): ReadonlySet<string> {
  const before = past.find(({ at }) => now.at - at <= WATCHED_MS * 1.5)
  if (!before || now.at - before.at < WATCHED_MS / 2) return new Set()
  const isGrowing = (id: string, lag: number) => {
    const was = before.lags.get(id) ?? lag
    return lag >= NOTABLE && lag - was > Math.max(LEAST_RISE, was * LEAST_SHARE)
  }
  return new Set([...now.lags].filter(([id, lag]) => isGrowing(id, lag)).map(([id]) => id))
}

export const KEEP_MS = WATCHED_MS * 1.5
