import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Num, Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { DeadLetterCauses, DeadLetterGroup, DeadLetterGroups } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useKnownCauses } from "../api/get-causes"

type Counted = Pick<DeadLetterGroup, "messages" | "causes" | "top_cause" | "read" | "first_at" | "retries_waiting"> & { isWhole: boolean }

/** A line of the list knows the newest dead letters only; what was read of all of them says more. */
function withCauses(group: DeadLetterGroup, known: DeadLetterCauses | undefined): Counted {
  if (known === undefined || known.read < group.read) return { ...group, isWhole: group.messages !== null && group.causes !== null && group.read >= group.messages }
  const [top = null] = [...known.items].sort((one, other) => other.count - one.count)
  return { ...group, causes: known.items.length, top_cause: top, read: known.read, isWhole: known.complete }
}

/** Whether the causes are unknown altogether: no dead letter was read, and there may be some. */
const nobodyRead = (items: readonly Counted[], messages: number | null, isPartial: boolean): boolean =>
  items.length === 0 ? messages === null : isPartial && items.every(({ read }) => read === 0)

interface DeadLetterFiguresProps {
  cluster: string
  found: Pick<DeadLetterGroups, "items" | "messages">
}

/** The figures of the groups that are shown; where the causes of a group were read for the table, they count here too. */
export function DeadLetterFigures({ cluster, found: { items: listed, messages } }: DeadLetterFiguresProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const known = useKnownCauses(cluster, listed.map(({ name }) => name))
  const items = listed.map((group, index) => withCauses(group, known[index]))
  const top = items.flatMap(({ top_cause: cause }) => cause ?? []).sort((one, other) => other.count - one.count)[0]
  const isPartial = items.some((group) => group.messages === null || group.causes === null || !group.isWhole)
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
