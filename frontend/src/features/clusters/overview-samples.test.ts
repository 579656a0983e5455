import { describe, expect, it } from "vitest"
import type { GroupSummary, OverviewHistory } from "@/lib/api-types"
import { overview } from "@/testing/factories"
import { of, sampleOf, samplesOf } from "./overview-samples"

const FROM = "2026-11-21T06:00:00Z"
const NOW = "2026-11-21T06:00:03Z"
const history = { step_ms: 1_000, from: FROM, to: "2026-11-21T06:00:02Z", series: { total_lag: [7, 7] }, group_lag: { billing: [7, 7] } } as unknown as OverviewHistory
const named = (name: string, lag: number | null) => ({ name, lag }) as GroupSummary
const newest = (total_lag: number | null, worst_groups: GroupSummary[]) => {
  const sample = sampleOf(overview({ at: NOW, total_lag, worst_groups }), ["billing"])
  return of(samplesOf(history, sample ? [sample] : [], ["billing"]), "group:billing").at(-1)
}

describe("the newest lag of a group", () => {
  it("is unknown when the live state says so, whatever it was", () => expect(newest(3, [named("billing", null)])).toBeNull())
  it("is unknown while nothing is known of the cluster", () => expect(newest(null, [])).toBeNull())
  it("is none when the list of the worst has room and does not name it", () => expect(newest(3, [named("audit", 3)])).toBe(0))
  it("stays what it was while the live state has no room for it", () =>
    expect(newest(90, ["a", "b", "c", "d", "e"].map((name) => named(name, 18)))).toBe(7))
})
