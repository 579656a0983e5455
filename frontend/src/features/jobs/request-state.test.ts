import { expect, it } from "vitest"
import type { JobRequest } from "@/lib/api-types"
import { checkOf, exportOf, reconcileOf, replayOf } from "./request"
import { differingFields, formOf, stateOf } from "./request-state"

const again = ({ type, cluster = "local", check }: JobRequest, state: ReturnType<typeof stateOf>): JobRequest => {
  if (type === "reconcile") return check ? checkOf(state, cluster) : reconcileOf(state, cluster)
  return type === "export" ? exportOf(state, cluster) : replayOf(state, cluster)
}

const OF_ALL = { name: ["nightly"], limits: [{ max_minutes: 90 }], notify: [{ channels: ["c1", "c2"], on: ["failed", "succeeded"] }, { channels: ["c1"], on: ["failed", "partial"] }] }
const RANGES = [{ from: "{{ last_success }}", to: "{{ scheduled_at - 1h }}" }, { from: "2026-11-21T06:00:00Z" }, { offsets: [{ queue: 0, from: 0, to: 20 }, { broker: "broker-b", queue: 3, from: 5 }, { queue: 4 }, { queue: 5, to: 7 }] }]
const SOURCES = [
  ...RANGES,
  ...[{ queues: [0, 3] }, { keys: ["A17", "A18"] }, { keys_file: "keys/may.txt" }, { tag: "a || b" }, { where: "json:a::double > 10\nAND tag = 'x'" }],
  { from: "2026-11-21T06:00:00Z", queues: [1], keys: ["A"], keys_file: "k.txt", tag: "t", where: "true" },
].map((source) => ({ topic: "orders", ...source }))
const TRANSFORM = { body: "upper(body)", tag: "'x'", keys: "json:id::string", properties: { region: "'north'", eq: "a = b" } }
const TARGETS = [
  { topic: "staging" },
  { topic: "staging", cluster: "other", order: "key", preserve: ["unique_id", "born_at"], transform: TRANSFORM },
  { kind: "parquet", transform: { tag: "'x'" } },
]
const SIDES = [
  { topic: "ledger" },
  { topic: "ledger", cluster: "other", where: "tag = 'x'", from: "2026-11-21T06:00:00Z" },
  { kind: "group", topic: "ledger", group: "billing", to: "{{ scheduled_at }}" },
]
const ROWS = [
  { kind: "parquet", path: "a/b", time: "at", from: "{{ last_success }}" },
  { kind: "csv", path: "a.csv" },
  { kind: "postgresql", connection: "books", table: "public.ledger", time: "at" },
  { kind: "postgresql", connection: "books", query: "SELECT 1\nFROM x", where: "a > 1" },
]
const COMPARED = ["none", "body", ["tag", "properties"], ["body", { name: "amount", left: "json:a", right: "json:b", tolerance: 0.01 }], [{ name: "id", left: "a", right: "a" }, { name: "n", left: "a", right: "a", tolerance: 0 }]]

const replay = { type: "replay", cluster: "east", source: { topic: "orders" }, target: { topic: "staging" } }
const comparison = { type: "reconcile", cluster: "east", left: { topic: "orders" }, right: { topic: "ledger" }, by: "key", compare: "body" }
const sql = { by: { left: "key", right: "id" }, compare: "none" }

/** Each of the values of each field, one at a time. */
const varied = (base: object, fields: Readonly<Record<string, readonly unknown[]>>): object[] => Object.entries(fields).flatMap(([name, values]) => values.map((value) => ({ ...base, [name]: value })))

const REQUESTS = [
  ...varied(replay, { ...OF_ALL, source: SOURCES, target: TARGETS, on_damage: ["stop"], allow_live_target: [true], limits: [{ messages_per_second: 500 }, { max_messages: 9 }, { messages_per_second: 1, max_messages: 2, max_minutes: 90 }] }),
  ...varied({ type: "export", cluster: "east", source: { topic: "orders" }, format: "csv" }, { ...OF_ALL, source: SOURCES, format: ["csv", "jsonl", "parquet"], columns: [["key", "body"]], on_damage: ["stop"] }),
  ...varied(comparison, { ...OF_ALL, left: SIDES, right: SIDES, by: ["unique_id", "body", "source", sql.by], compare: COMPARED, order: [true], multiset: [false], lateness_ms: [1_001, 60_000], on_damage: ["stop"] }),
  ...varied({ ...comparison, ...sql }, { left: ROWS, right: ROWS }),
  { ...comparison, left: { topic: "orders", from: "2026-11-21T06:00:00Z", to: "2026-11-22T06:00:00Z" }, right: { topic: "ledger" } },
  ...varied({ type: "reconcile", cluster: "local", check: "store" }, { ...OF_ALL, check: ["store"] }),
] as JobRequest[]

it.each(REQUESTS.map((request) => [JSON.stringify(request), request] as const))("comes back as it was stored: %s", (_text, request) => {
  expect(again(request, stateOf(request))).toEqual(request)
  expect(formOf(request).lost).toEqual([])
})

it.each([
  [{ ...replay, on_damage: "skip", dry_run: false, limits: {}, target: { kind: "topic", topic: "staging", order: "queue", cluster: "east" }, source: { topic: "orders", from: null, keys: null } }],
  [{ ...replay, target: { topic: "staging", preserve: ["born_at", "unique_id"] } }],
  [{ ...comparison, by: undefined, compare: ["body"], multiset: true, order: false, lateness_ms: 0, left: { kind: "topic", topic: "orders" } }],
  [{ ...comparison, compare: [{ name: "n", left: "a", right: "b" }, "tag"] }],
])("takes a default that is written out for the default: %j", (request) => {
  expect(formOf(request as JobRequest).lost).toEqual([])
})

it.each([
  [{ ...replay, dry_run: true }, ["dry_run"]],
  [{ ...replay, source: { topic: "orders", keys: ["one key", "b"] } }, ["source.keys"]],
  [{ ...replay, target: { kind: "parquet" }, limits: { messages_per_second: 5 } }, ["limits.messages_per_second"]],
  [{ ...replay, target: { topic: "staging", transform: { properties: { a: "1\n+ 2" } } } }, ["target.transform.properties.a"]],
  [{ ...comparison, compare: [{ name: "n", left: "a | b", right: "c" }] }, ["compare"]],
  [{ ...replay, novelty: { deep: 1 } }, ["novelty.deep"]],
  [{ type: "redrive", group: "g" }, ["type"]],
])("names what it cannot send back of %j", (request, lost) => {
  expect(formOf(request as unknown as JobRequest).lost).toEqual(lost)
})

it("finds what was changed", () => {
  expect(differingFields(replay as JobRequest, { ...replay, source: { topic: "orders", tag: "x", queues: [1] } } as JobRequest)).toEqual(["source.tag", "source.queues"])
})
