import { screen, within } from "@testing-library/react"
import type { Replica, ReplicaChange, Replicas } from "@/lib/api-types"
import { AT, replica } from "./factories"
import { answer } from "./server"

/** What is asked of broker-a, whose master controllers choose, by the tests of its page. */
export const REPLICAS = "GET /api/v1/clusters/local/brokers/broker-a/replicas"
export const HISTORY = `${REPLICAS}/history`

type Failover = NonNullable<Replicas["failover"]>

export const STATE = {
  master_id: 1, epoch: 5, version: 31, in_sync: [1, 2], set_version: 12, replicas: [1, 2], min_in_sync: 2, unclean_allowed: false,
  last: { why: "killed", by: "n1", at: AT },
}

/** A preview of a change that costs nothing that is known. */
export const PREVIEW: ReplicaChange = {
  broker: "broker-a", dry_run: true, told: null, next_masters: [], effective_min_in_sync: null, lacking_bytes: null, keeps_acknowledged: null,
  has_until: null, orderly_groups: null, orderly_groups_total: null, refuses_sends: false, removed: null, loss: null, warnings: [], plan: "signed", plan_expires_at: null,
  before: STATE, after: STATE,
}

export const led = (id: number, failover: Partial<NonNullable<Replica["failover"]>> = {}, role: Replica["role"] = "slave"): Replica =>
  replica(id, { role, failover: { in_sync: true, heard: true, clean: true, life: "1-a", confirm: null, last_epoch: 5, epochs: null, in_sync_since: null, ...failover } })

export const ledAnswer = (state: Partial<Failover>, replicas: Replica[]): Replicas => {
  const failover = { ...STATE, writable: true, writable_reason: null, effective_min_in_sync: 2, stuck: null, set_back: false, age_ms: 0, ...state }
  return { broker: "broker-a", at: AT, mode: "failover", master_id: failover.master_id, failover, failover_reason: null, may_adopt: failover.set_back, told: null, last_known: null, replicas, streams: [], streams_reason: null, silent_name_servers: [] }
}

export const answerNoHistory = () => answer(HISTORY, { broker: "broker-a", items: [] })

export const rowOf = async (address: string) => within((await screen.findByText(address, { selector: "td *" })).closest("tr") as HTMLElement)
