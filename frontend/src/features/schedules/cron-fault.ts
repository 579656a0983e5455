import type { TFunction } from "i18next"
import { detailIn } from "@/lib/reasons"

const FIELD = / is not a cron line: bad (minute|hour|day-of-month|month|day-of-week)$/
const COUNT = / is not a cron line: it needs five fields /
const NEVER = / is not a cron line: it is (?:not due in the next \d+ years|never due: .+)$/

/** Why the scheduler takes no such line, in the language of the reader; a reason without a translation stays as the server said it. */
export function cronFaultIn(t: TFunction, language: string, reason: string | undefined): string | undefined {
  if (!reason) return undefined
  const field = FIELD.exec(reason)?.[1]
  if (field) return t(`schedules.cronFields.${field as "minute"}`)
  if (COUNT.test(reason)) return t("schedules.cronWrong")
  return NEVER.test(reason) ? t("schedules.cronNever") : detailIn(t, language, reason)
}
