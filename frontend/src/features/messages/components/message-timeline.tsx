import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import type { Message, TimelineEvent } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useSince } from "../use-since"
import classes from "./messages.module.css"
import { SectionHead } from "./section-head"

interface Moment {
  at: string
  what: string
  small: string
  isOurs?: boolean
}

interface MessageTimelineProps {
  message: Message
  /** What it waited for between the two. */
  waits?: readonly TimelineEvent[]
}

/** When it was sent and when it was stored, with the time between. */
export function MessageTimeline({ message, waits = [] }: MessageTimelineProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const since = useSince(message)
  const moments: Moment[] = [
    { at: message.born_at, what: t("messages.sentBy", { host: message.born_host }), small: t("messages.bornClock") },
    ...waits.map(({ at, kind, group }) => ({ at: at ?? message.stored_at, what: t(`life.kinds.${kind}`, { group: group ?? "" }), small: group ?? "" })),
    {
      at: message.stored_at,
      what: t("messages.storedIn", { topic: message.topic, queue: message.queue_id, offset: count(message.queue_offset) }),
      small: t("messages.logOffset", { broker: message.broker, host: message.store_host, n: count(message.log_offset) }),
      isOurs: true,
    },
  ]
  return (
    <>
      <SectionHead name={t("messages.sections.timeline")} />
      <ol className={classes.timeline}>
        {moments.map(({ at, what, small, isOurs }) => (
          <li key={what}>
            <span>{format.clock(at, true)}</span>
            <span>{since(at)}</span>
            <span className={classes.mark} data-ours={isOurs} />
            <span>
              {what}
              {small && <small>{small}</small>}
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}
