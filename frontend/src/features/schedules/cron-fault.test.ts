import { readFileSync } from "node:fs"
import path from "node:path"
import i18next from "i18next"
import { beforeEach, describe, expect, it } from "vitest"
import { allWords, startTranslations } from "@/lib/i18n"
import { cronFaultIn } from "./cron-fault"

beforeEach(async () => {
  await startTranslations("zh")
  await allWords()
})

const said = (reason: string | undefined) => cronFaultIn(i18next.t, "zh", reason)

describe("why a cron line is not taken", () => {
  it.each([
    ["'mon 0 * * *' is not a cron line: bad minute", "分钟为 0 到 59、* 或步长，例如 */5"],
    ["'0 0 30 2 *' is not a cron line: it is never due: none of its months has such a day", "该表达式永远不会到期"],
    ["'0 0 32 2 *' is not a cron line: bad day-of-month", "日期为 1 到 31、* 或步长，例如 */2"],
    ["'0 0 * * 6-1' is not a cron line: bad day-of-week", "星期为 0 到 7、sun 到 sat、* 或步长，例如 */2"],
    ["'x' is not a cron line: it needs five fields (minute, hour, day of month, month, day of week), not 1", "五个字段，例如 0 3 * * *"],
  ])("is said in the language of the reader: %s", (reason, words) => {
    expect(said(reason)).toBe(words)
  })

  it("is marked as the words of the server where there are no words for it, and nothing where nothing is wrong", () => {
    expect(said("The moon is full.")).toBe("服务器原文：The moon is full.")
    expect(said(undefined)).toBeUndefined()
  })

  it("knows every sentence with which the scheduler refuses a line", () => {
    const scheduler = readFileSync(path.resolve(import.meta.dirname, "../../../../console/jobs/times.py"), "utf8")
    const head = /super\(\).__init__\(f"\{line!r\}(.+)\{why\}"\)/.exec(scheduler)?.[1]
    const whys = [...scheduler.matchAll(/CronMalformed\(line, f?"(.+)"\)/g)].map(([, why = ""]) => why.replace("{needed}", "minute, hour").replace("{count}", "6"))
    // What the scheduler's library says, it passes on in small letters: "bad" and the name of the field.
    expect(scheduler).toContain("CronMalformed(line, str(error).lower())")
    expect(whys).toHaveLength(3)
    for (const why of [...whys, "bad month"]) expect(said(`'x'${head}${why}`)).not.toContain("服务器原文")
  })
})
