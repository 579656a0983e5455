import type { TFunction } from "i18next"

const FIELD = / is not a cron line: bad (minute|hour|day-of-month|month|day-of-week)$/
const COUNT = / is not a cron line: it needs five fields /

/** Why the scheduler takes no such line, in the language of the reader; a reason without a translation stays as it is. */
export function cronFaultIn(t: TFunction, reason: string | undefined): string | undefined {
  const field = reason && FIELD.exec(reason)?.[1]
  if (field) return t(`schedules.cronFields.${field as "minute"}`)
  return reason && COUNT.test(reason) ? t("schedules.cronWrong") : reason
}
