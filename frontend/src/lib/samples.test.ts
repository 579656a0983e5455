import { describe, expect, it } from "vitest"
import { joined, type Sample, withSample } from "./samples"

const history = { step_ms: 1_000, from: "2026-11-21T00:00:00Z", to: "2026-11-21T00:00:03Z", series: { lag: [1, 2, 3] } }
const start = Date.parse(history.from)
const at = (seconds: number, lag: number): Sample<"lag"> => ({ at: start + seconds * 1_000, values: { lag } })

describe("history and live samples", () => {
  it("stand on one time axis; what the history holds already is not added", () => {
    const { times, series } = joined(history, [at(1, 9), at(3, 4), at(4, 5)], ["lag"])
    expect(times.map((time) => time * 1_000 - start)).toEqual([0, 1_000, 2_000, 3_000, 4_000])
    expect(series.lag).toEqual([1, 2, 3, 4, 5])
  })

  it("keep silence as silence, but bridge what is only the time that measuring takes", () => {
    const short = { ...history, series: { lag: [1, null, 3] } }
    expect(joined(short, [], ["lag"]).series.lag).toEqual([1, 1, 3])
    const long = { ...history, step_ms: 60_000, series: { lag: [1, null, null, null, 3] } }
    expect(joined(long, [], ["lag"]).series.lag).toEqual([1, null, null, null, 3])
  })

  it("forget what is too old and take each moment once", () => {
    const tail = withSample(withSample([], at(0, 1), 5_000), at(6, 2), 5_000)
    expect(tail).toEqual([at(6, 2)])
    expect(withSample(tail, at(6, 3), 5_000)).toBe(tail)
  })

  it("begin with the live samples alone where there is no history yet", () => {
    const empty = { ...history, series: {} }
    expect(joined(empty, [at(1, 5)], ["lag"])).toEqual({ times: [start / 1_000 + 1], series: { lag: [5] } })
    expect(joined(empty, [], ["lag"])).toEqual({ times: [], series: { lag: [] } })
  })

  it("keep series of different length on the same moments", () => {
    const two = { ...history, step_ms: 60_000, series: { in: [1, 2, 3], out: [4] } }
    const { times, series } = joined(two, [{ at: start + 180_000, values: { in: 7 } }], ["in", "out"])
    expect(times).toHaveLength(4)
    expect(series).toEqual({ in: [1, 2, 3, 7], out: [4, null, null, null] })
  })

  it("do not draw a line from before a silence that has not ended", () => {
    const silent = { ...history, series: { lag: [1, null, null] } }
    expect(joined(silent, [], ["lag"]).series.lag).toEqual([1, null, null])
    const late = { ...history, series: { lag: [null, null, 3] } }
    expect(joined(late, [], ["lag"]).series.lag).toEqual([null, null, 3])
  })

  it("are not changed by being put together: the cache keeps the history", () => {
    const kept = { ...history, series: { lag: [1, null, 3] } }
    joined(kept, [at(4, 5)], ["lag"])
    expect(kept.series.lag).toEqual([1, null, 3])
  })

  it("take no sample that comes late", () => {
    const tail = withSample([], at(6, 2), 5_000)
    expect(withSample(tail, at(5, 9), 5_000)).toBe(tail)
  })
})
