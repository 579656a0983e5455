import i18next from "i18next"
import { beforeEach, describe, expect, it } from "vitest"
import { startTranslations } from "@/lib/i18n"
import { cronFaultIn } from "./cron-fault"

beforeEach(() => {
  startTranslations("zh")
})

const said = (reason: string | undefined) => cronFaultIn(i18next.t, reason)

describe("why a cron line is not taken", () => {
  it.each([
    ["'mon 0 * * *' is not a cron line: bad minute", "分钟为 0 到 59 或 *"],
    ["'0 0 30 2 *' is not a cron line: bad day-of-month", "日期为 1 到 31 且该月存在，或 *"],
    ["'0 0 * * 6-1' is not a cron line: bad day-of-week", "星期为 0 到 7、sun 到 sat 或 *"],
    ["'x' is not a cron line: it needs five fields (minute, hour, day of month, month, day of week), not 1", "五个字段，例如 0 3 * * *"],
  ])("is said in the language of the reader: %s", (reason, words) => {
    expect(said(reason)).toBe(words)
  })

  it("stays as the server said it where there are no words for it, and nothing where nothing is wrong", () => {
    expect(said("Null characters are not allowed.")).toBe("Null characters are not allowed.")
    expect(said(undefined)).toBeUndefined()
  })
})
