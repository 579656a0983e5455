import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import examples from "@/testing/decision-words.json"
import "@/testing/render"
import { decisionIn, whyIn } from "./decisions"
import { Problem } from "./problem"
import { problemIn, reasonIn } from "./reasons"

afterEach(() => i18next.changeLanguage("en"))

const UNFILLED = /\{\{|undefined/

/** That controllers say exactly this is tested by tests/console/replicas/test_decision_words.py. */
it.each(examples)("has words in both languages for what controllers say: %s", async (says) => {
  expect(decisionIn(i18next.t, says)).not.toMatch(UNFILLED)
  await i18next.changeLanguage("zh")
  expect(reasonIn(i18next.t, says)).toMatch(/\p{Script=Han}/u)
  expect(reasonIn(i18next.t, says)).not.toMatch(UNFILLED)
})

it("keeps in Chinese which replicas a sentence is about, and shows one that it does not know as it is", async () => {
  expect(whyIn(i18next.t, "killed")).toBe("the master's process ended")
  await i18next.changeLanguage("zh")
  const t = (says: string) => whyIn(i18next.t, says)
  expect(t("replica 3 joined and replicas 1, 2 left the in-sync set")).toBe("副本 3 进入同步集合，副本 1, 2 离开")
  expect(t("b would have 1 replicas, but takes messages only with 2 in sync")).toBe("b 将只剩 1 个副本，而接收消息需要 2 个同步副本")
  expect(reasonIn(i18next.t, "fewer replicas are in sync than minInSyncReplicas asks for; replica 3 does not join by itself: its log says why")).toMatch(/；副本 3 不会自行加入/)
  expect(t("the moon is full")).toBe("the moon is full")
  expect(reasonIn(i18next.t, "b 1 is not listed by any name server")).toBe("没有 Name server 登记 b 的进程 1")
})

it("translates a refusal of a controller as a problem, whose sentence begins with a capital", async () => {
  const refused = (detail: string) => problemIn(i18next.t, "zh", new Problem(409, { code: "CONFLICT", detail }))
  await i18next.changeLanguage("zh")
  expect(refused("Replica 2 of b lives: stop it first.")).toBe("b 的副本 2 仍在运行，须先停止它")
  expect(refused("Something else is decided about b since the preview; preview again.")).toBe("预览之后 b 已有新的决定，需重新预览")
})
