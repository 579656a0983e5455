import { useTranslation } from "react-i18next"
import type { ActivityEvent } from "@/lib/api-types"
import { whyIn } from "@/lib/decisions"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"

const SHOWN = 3

/** What an event says in the language of the reader: one sentence, and what else is known. */
export function useEventWords() {
  const { t } = useTranslation()
  const sentence = (event: ActivityEvent): string =>
    t(`activity.kinds.${event.kind}`, {
      client: event.client?.client_id,
      group: event.group,
      topic: event.topic,
      broker: event.broker,
      rule: event.alert?.rule,
      subject: event.alert?.subject,
      n: count(event.left_out ?? 0),
    })
  const listed = (words: string[], total: number) => {
    const shown = words.slice(0, SHOWN)
    const others = total - shown.length
    return [...shown, ...(others > 0 ? [t("activity.more", { n: count(others) })] : [])].join(t("list.comma"))
  }
  const details = (event: ActivityEvent): string[] => {
    const moves = event.moves.map((move) => `${move.topic}/${move.broker}/${move.queue_id}: ${move.from_client ?? t("activity.nobody")} → ${move.to_client}`)
    const isSwitch = event.kind === "master_changed"
    const changes = event.changes.map(({ name: field, before, after }) => {
      const name = isSwitch ? t(`activity.switched.${field as "epoch" | "master_id"}`, { defaultValue: field }) : field
      return before === null ? `${name} ${after ?? "—"}` : `${name} ${before} → ${after ?? "—"}`
    })
    return [
      event.client && [event.client.address, event.client.language, event.client.version].filter(Boolean).join(" · "),
      moves.length > 0 && listed(moves, event.moves_total ?? moves.length),
      event.kind === "offsets_changed" && event.topic,
      changes.length > 0 && listed(changes, changes.length),
      event.lag !== null && event.kind === "group_behind" && t("activity.behindBy", { lag: count(event.lag) }),
      event.reason && (isSwitch ? whyIn(t, event.reason) : reasonIn(t, event.reason)),
      event.partial && t("activity.partial"),
      event.by !== null && t("activity.by", { name: event.by }),
    ].filter((word): word is string => typeof word === "string" && word !== "")
  }
  return { sentence, details }
}
