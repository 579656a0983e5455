import { describe, expect, it } from "vitest"
import { measured, railShare } from "./measure"
import { draftOf, inputOf, newDraft, withMetric } from "./rule-draft"

const write = { duration: (ms: number) => `${ms / 1000} s` }

describe("values of metrics", () => {
  it("are written in their unit", () => {
    expect(measured("group_lag", 184_220, write)).toBe("184,220")
    expect(measured("group_time_lag_ms", 90_000, write)).toBe("90 s")
    expect(measured("broker_disk_used", 0.614, write)).toBe("61.4 %")
    expect(measured("dead_letters_per_hour", 41, write)).toBe("41/h")
    expect(measured("replica_lag_bytes", 3 * 1_048_576, write)).toBe("3.1 MB")
    expect(measured("controller_engine_used", 0.5, write)).toBe("50.0 %")
  })

  it("stand between nothing and twice the limit", () => {
    expect([railShare(50, 100), railShare(100, 100), railShare(900, 100), railShare(1, 0), railShare(0, 0)]).toEqual([0.25, 0.5, 1, 1, 0])
  })
})

describe("the draft of a rule", () => {
  const draft = { ...newDraft("local", "billing*"), name: " lag ", metric: "group_time_lag_ms" as const, limit: 90 }

  it("is sent in the units of the API, and read back as it was typed", () => {
    const input = inputOf(draft)
    expect(input).toMatchObject({ name: "lag", limit: 90_000, for_ms: 60_000, no_data_after_ms: 60_000, repeat_ms: 1_800_000 })
    expect(draftOf({ ...input, id: "r", etag: "", figures: [], enabled: true, subject_kind: "group" } as never)).toEqual({ ...draft, name: "lag" })
  })

  it("begins with a limit that fits what it watches, unless somebody typed one", () => {
    const first = newDraft("local", "*")
    expect(withMetric(first, "replicas_out_of_sync").limit).toBe(0)
    expect(withMetric(withMetric(first, "controller_engine_used"), "group_lag").limit).toBe(10_000)
    expect(withMetric({ ...first, limit: 7 }, "replicas_out_of_sync").limit).toBe(7)
  })

  it("says never where a field is empty, and no limit for what is yes or no", () => {
    expect(inputOf({ ...draft, noDataSeconds: undefined, repeatMinutes: undefined })).toMatchObject({ no_data_after_ms: null, repeat_ms: null })
    for (const metric of ["broker_silent", "broker_stuck", "controllers_leaderless"] as const) {
      expect(inputOf({ ...draft, metric, direction: "below" })).toMatchObject({ limit: 0, direction: "above" })
    }
  })
})
