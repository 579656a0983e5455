import { useState } from "react"
import type { Group } from "@/lib/api-types"
import { growingQueues, KEEP_MS, lagsOf, type QueueLags } from "./trends"

interface Past {
  group: string
  states: QueueLags[]
}

/** Which queues of the group grow, seen over the last states. */
export function useGrowingQueues(group: Group): ReadonlySet<string> {
  const [past, setPast] = useState<Past>({ group: group.name, states: [] })
  const now = lagsOf(Date.parse(group.at), group.queues)
  const states = past.group === group.name ? past.states : []
  if (past.group !== group.name || (states.at(-1)?.at ?? 0) < now.at) {
    setPast({ group: group.name, states: [...states.filter(({ at }) => now.at - at <= KEEP_MS), now] })
  }
  return growingQueues(states, now)
}
