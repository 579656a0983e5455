import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import examples from "@/testing/job-refusals.json"
import "@/testing/render"
import { Problem } from "./problem"
import { detailIn, problemIn } from "./reasons"

afterEach(() => i18next.changeLanguage("en"))

/** That the server says exactly this is tested by tests/console/jobs/test_refusal_words.py. */
it.each(examples)("has Chinese for what the server says: $says", async ({ says }) => {
  expect(detailIn(i18next.t, "en", says)).toBe(says)
  await i18next.changeLanguage("zh")
  expect(detailIn(i18next.t, "zh", says)).toMatch(/\p{Script=Han}/u)
  expect(detailIn(i18next.t, "zh", says)).not.toMatch(/服务器原文|\{\{(?:name|names|n|value|low|high|most|rest)\}\}/)
})

it("keeps in Chinese what the sentence names", async () => {
  await i18next.changeLanguage("zh")
  const t = (says: string) => detailIn(i18next.t, "zh", says)
  expect(t("queue 0 of broker-a has the offsets 5 to 20, not 4")).toBe("broker-a 的队列 0 的位点为 5 到 20，不含 4")
  expect(t("has the function 'uper', which is not one of those that expressions of jobs may call; did you mean 'upper'?")).toBe("任务的表达式不能使用函数 uper，是否应为 upper？")
  expect(t("has \"'\" at character 8, and no other one that closes it: …'a")).toBe("第 8 个字符处的 ' 没有闭合：…'a")
  expect(t("has '${', which Spark takes for a variable; write it as '$' || '{'")).toBe("含有 ${，Spark 会将其当作变量，应写为 '$' || '{'")
  expect(t("there is no group 'moon'")).toBe("消费组 moon 不存在")
  const gone = new Problem(409, { code: "FILES_GONE", detail: "The files of job j7 were removed on 2026-05-01, 14 days after its end." })
  expect(problemIn(i18next.t, "zh", gone)).toBe("任务的文件已按保留期限删除，无法从中继续")
})
