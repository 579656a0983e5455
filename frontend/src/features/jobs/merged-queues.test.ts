import { expect, it } from "vitest"
import { topic } from "@/testing/factories"
import { mergedQueues } from "./merged-queues"
import { replayOf } from "./request"

const source = topic("orders", { total_read_queues: 8 })
const into = (queues: number) => topic("staging", { total_write_queues: queues })
const asked = (state: Record<string, string> = {}) => replayOf({ topic: "orders", target: "staging", ...state }, "local")

it.each([8, 16, 0])("names no queues that share one where the target has %i", (queues) => {
  expect(mergedQueues(asked(), source, into(queues))).toBeNull()
})

it("names how many share how few", () => {
  expect(mergedQueues(asked(), source, into(4))).toEqual({ from: 8, to: 4 })
})

it.each([
  [{ queues: "0, 1 2" }, null],
  [{ queues: "0 1 2 3 4 4" }, { from: 5, to: 4 }],
  [{ bounds: "offsets", offsets: "0: 1 - 2\n0: 5 - 6\n7" }, null],
  [{ torder: "key" }, null],
  [{ tkind: "parquet" }, null],
])("counts only the queues that are read, and sent by queue (%o)", (state, found) => {
  expect(mergedQueues(asked(state), source, into(4))).toEqual(found)
})

it("counts a queue number of each broker", () => {
  const wide = topic("orders", { total_read_queues: 8, brokers: ["broker-a", "broker-b"] })
  expect(mergedQueues(asked({ queues: "0 1" }), wide, into(3))).toEqual({ from: 4, to: 3 })
})

it("says nothing while a topic is not known", () => {
  expect(mergedQueues(asked(), undefined, into(4))).toBeNull()
  expect(mergedQueues(asked(), source, undefined)).toBeNull()
})
