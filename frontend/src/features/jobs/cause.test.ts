import i18next from "i18next"
import { beforeEach, describe, expect, it } from "vitest"
import { allWords, startTranslations } from "@/lib/i18n"
import { job } from "@/testing/factories"
import { causeOf } from "./cause"

beforeEach(async () => {
  await startTranslations("en")
  await allWords()
})

const told = (change: Parameters<typeof job>[1]) => causeOf(i18next.t, "en", job("j1", change))

describe("why a job is not done", () => {
  it("says what happened, what to do, and what the server said", () => {
    expect(told({ state: "failed", state_code: "no_java", state_reason: "Spark needs Java 17 or newer; none found." })).toEqual({
      title: "No Java was found for Spark",
      next: "Install Java 17 or newer where the worker runs, or set JAVA_HOME for the worker and restart it. Running it again continues where it stopped and sends nothing twice.",
      detail: "Spark needs Java 17 or newer; none found.",
    })
  })

  it("does not promise that a comparison continues, nor that files that are gone do", () => {
    const gone = { state: "failed", state_code: "broker_unreachable", state_reason: "no" } as const
    expect(told({ ...gone, type: "reconcile" })?.next).toMatch(/begins anew\.$/)
    expect(told({ ...gone, files_removed_at: "2026-11-21T07:00:00Z" })?.next).toMatch(/start them again\.$/)
  })

  it("tells of a job that waits how its last try ended", () => {
    const reason = "attempt 2 of 4, starts at 2026-11-21T07:00:00.000Z; the last one ended because its worker was lost"
    expect(told({ state: "queued", state_code: "worker_lost", state_reason: reason })).toMatchObject({ title: "The last try ended: Its worker died", detail: "its worker was lost" })
  })

  it("marks in Chinese what only the server says, unless it is known there", async () => {
    await startTranslations("zh")
    await allWords()
    const inChinese = (reason: string) => causeOf(i18next.t, "zh", job("j1", { state: "cancelled", state_code: "cancelled", state_reason: reason }))?.detail
    expect(inChinese("cancelled by ann; messages already written stay")).toBe("由 ann 取消")
    expect(inChinese("it was stopped after 90 minutes (limits.max_minutes)")).toBe("运行 90 分钟后被停止（limits.max_minutes）")
    expect(inChinese("orders has 2 queues; it had 3")).toBe("服务器原文：orders has 2 queues; it had 3")
  })

  it("leaves what an earlier release ended to its sentence", () => {
    expect(told({ state: "failed", state_code: null, state_reason: "staging is read only" })).toEqual({ title: null, next: "", detail: "staging is read only" })
    expect(told({ state: "running", state_code: null, state_reason: null })).toBeNull()
  })
})
