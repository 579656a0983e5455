import { expect, it } from "vitest"
import { demandsOf } from "./demands"
import { checkOf, exportOf, reconcileOf, replayOf } from "./request"
import type { JobRequest } from "@/lib/api-types"

const words = (request: JobRequest) => demandsOf(request).map(({ right, kind, name }) => `${right} ${kind} ${name ?? "-"}`)

it.each([
  ["a replay", replayOf({ topic: "orders", target: "staging" }, "local"), ["read topic orders", "bodies topic orders", "produce topic staging"]],
  ["a replay without a topic", replayOf({}, "local"), ["read topic -", "bodies topic -", "produce topic -"]],
  ["one to a file", replayOf({ topic: "orders", tkind: "parquet" }, "local"), ["read topic orders", "bodies topic orders"]],
  ["one of keys in a file", replayOf({ topic: "orders", tkind: "parquet", keysfile: "k.txt" }, "local"), ["read topic orders", "bodies topic orders", "bodies topic -"]],
  ["an export", exportOf({ topic: "orders" }, "local"), ["read topic orders"]],
  ["one with bodies", exportOf({ topic: "orders", cols: "key,body" }, "local"), ["read topic orders", "bodies topic orders"]],
  ["one with a condition", exportOf({ topic: "orders", where: "key = 'a'" }, "local"), ["read topic orders", "bodies topic orders"]],
  ["a comparison of bodies", reconcileOf({ left: "orders", right: "ledger" }, "local"), ["read topic orders", "bodies topic orders", "read topic ledger", "bodies topic ledger"]],
  ["one of tags", reconcileOf({ left: "orders", right: "ledger", cmp: "tag" }, "local"), ["read topic orders", "read topic ledger"]],
  ["one by bodies", reconcileOf({ left: "orders", right: "ledger", cmp: "none", by: "body" }, "local"), ["read topic orders", "bodies topic orders", "read topic ledger", "bodies topic ledger"]],
  ["one with a group", reconcileOf({ left: "orders", right: "orders", rkind: "group", rgroup: "billing", cmp: "none" }, "local"), ["read topic orders", "read group billing"]],
  ["one with a file", reconcileOf({ left: "orders", rkind: "csv", rpath: "a.csv", bleft: "key", bright: "k" }, "local"), ["read topic orders", "bodies topic orders", "bodies topic -"]],
  ["a check of the store", checkOf({}, "local"), ["read topic -"]],
])("knows what %s needs", (_, request, demands) => {
  expect(words(request)).toEqual(demands)
})
