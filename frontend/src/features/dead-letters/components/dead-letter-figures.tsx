import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Num, Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { DeadLetterGroups } from "@/lib/api-types"
import { count } from "@/lib/format"

/** Whether the causes are unknown altogether: no dead letter was read, and there may be some. */
const nobodyRead = (items: DeadLetterGroups["items"], messages: number | null, isPartial: boolean): boolean =>
  items.length === 0 ? messages === null : isPartial && items.every(({ read }) => read === 0)

/** The figures of the groups that are shown. */
export function DeadLetterFigures({ found: { items, messages } }: { found: Pick<DeadLetterGroups, "items" | "messages"> }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const top = items.flatMap(({ top_cause: cause }) => cause ?? []).sort((one, other) => other.count - one.count)[0]
  const isPartial = items.some((group) => group.messages === null || group.causes === null || group.read < group.messages)
  const causes = items.reduce((sum, group) => sum + (group.causes ?? 0), 0)
  const isUnread = nobodyRead(items, messages, isPartial)
  const oldest = items.flatMap(({ first_at: at }) => at ?? []).sort()[0]
  const retries = isUnread || items.some((group) => group.retries_waiting === null) ? null : items.reduce((sum, group) => sum + (group.retries_waiting ?? 0), 0)
  const figures: KeyFigure[] = [
    { label: t("deadLetters.total"), value: <Num value={messages} /> },
    { label: t("deadLetters.causes"), value: isUnread ? <Unknown /> : `${count(causes)}${isPartial ? "+" : ""}`, fact: items.some(({ top_cause: cause }) => cause?.reason === null) ? t("deadLetters.withoutReason") : "" },
    { label: t("deadLetters.topCause"), value: isUnread ? <Unknown /> : top ? `${count(top.count)}${isPartial ? "+" : ""}` : "—", fact: top ? (top.reason ?? t("deadLetters.noReason")) : "" },
    { label: t("deadLetters.oldest"), value: oldest ? format.duration(Math.max(0, now - Date.parse(oldest))) : isUnread ? <Unknown /> : "—", fact: oldest ? format.when(oldest) : "" },
    { label: t("deadLetters.retries"), value: <Num value={retries} />, fact: t("deadLetters.retriesWords") },
  ]
  return <TitleBlock figures={figures} />
}
