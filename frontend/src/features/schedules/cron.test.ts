import { describe, expect, it } from "vitest"
import { nextRuns, parseCron } from "./cron"

const runs = (line: string, zone: string, after: string, amount = 3) =>
  nextRuns(line, zone, Date.parse(after), amount).map((at) => new Date(at).toISOString().slice(0, 16))

describe("the next runs", () => {
  it.each([
    ["*/30 * * * *", "UTC", "2026-11-21T06:10:00Z", ["2026-11-21T06:30", "2026-11-21T07:00", "2026-11-21T07:30"]],
    ["0 3 * * *", "Asia/Shanghai", "2026-11-21T06:10:00Z", ["2026-11-21T19:00", "2026-11-22T19:00", "2026-11-23T19:00"]],
    ["15 8-10 * * mon-fri", "UTC", "2026-11-20T09:30:00Z", ["2026-11-20T10:15", "2026-11-23T08:15", "2026-11-23T09:15"]],
    ["0 0 29 feb *", "UTC", "2026-11-21T00:00:00Z", ["2028-02-29T00:00"]],
    ["0 0 1 * sun", "UTC", "2026-11-21T00:00:00Z", ["2026-11-22T00:00", "2026-11-29T00:00", "2026-12-01T00:00"]],
    ["0 0 * * 7", "UTC", "2026-11-21T00:00:00Z", ["2026-11-22T00:00", "2026-11-29T00:00", "2026-12-06T00:00"]],
  ])("of %s in %s", (line, zone, after, expected) => expect(runs(line, zone, after)).toEqual(expected))

  it("skip the hour that the clock jumps over", () => {
    expect(runs("30 2 * * *", "Europe/Berlin", "2026-03-28T03:00:00Z", 2)).toEqual(["2026-03-30T00:30", "2026-03-31T00:30"])
  })
})

describe("a cron line", () => {
  it.each(["", "* * * *", "60 * * * *", "* 24 * * *", "5-1 * * * *", "*/0 * * * *", "a * * * *"])("is not %j", (line) =>
    expect(parseCron(line)).toBeNull(),
  )
})
