import { describe, expect, it } from "vitest"
import { queue } from "@/testing/factories"
import { growingQueues, lagsOf, queueId } from "./trends"

const at = (seconds: number, lag: number | null) => lagsOf(seconds * 1_000, [queue(0, { lag })])

describe("growing queues", () => {
  it("are those whose lag rose over the last seconds", () => {
    expect([...growingQueues([at(0, 1_000)], at(20, 1_400))]).toEqual([queueId(queue(0))])
  })

  it("are none before there was time to see it", () => {
    expect(growingQueues([at(0, 1_000)], at(3, 2_000)).size).toBe(0)
  })

  it("are none while the lag is small, steady, or unknown", () => {
    expect(growingQueues([at(0, 10)], at(20, 60)).size).toBe(0)
    expect(growingQueues([at(0, 1_000)], at(20, 1_004)).size).toBe(0)
    expect(growingQueues([at(0, 1_000)], at(20, null)).size).toBe(0)
  })
})
