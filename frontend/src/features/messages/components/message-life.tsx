import { useTranslation } from "react-i18next"
import { QueryBody } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { Message, TimelineEvent } from "@/lib/api-types"
import { queueAndOffset } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useTimeline } from "../api/get-timeline"
import { useSince } from "../use-since"
import classes from "./messages.module.css"
import { MissingBrokers } from "./missing-brokers"

/** What happened to it after it was stored, and in words what nobody recorded. */
export function MessageLife({ cluster, message }: { cluster: string; message: Message }) {
  const { t } = useTranslation()
  const query = useTimeline(cluster, message)
  return (
    <QueryBody query={query} what={t("life.failed")}>
      {({ events, missing, not_known: notKnown }) => (
        <>
          <ol className={classes.timeline}>
            {events.filter(isLater).map((event, index) => (
              <Event key={index} event={event} message={message} />
            ))}
          </ol>
          <MissingBrokers missing={missing} />
          {notKnown.map((text) => (
            <p key={text} className="micro">
              {reasonIn(t, text)}
            </p>
          ))}
        </>
      )}
    </QueryBody>
  )
}

const BEFORE: readonly TimelineEvent["kind"][] = ["sent", "due", "committed", "stored"]
const isLater = ({ kind }: TimelineEvent) => !BEFORE.includes(kind)

function Event({ event, message }: { event: TimelineEvent; message: Message }) {
  const { t } = useTranslation()
  const format = useFormat()
  const since = useSince(message)
  const { at, kind, group, topic, queue_id: queue, offset, reason, by, job, host } = event
  const place = topic && (queue === null || offset === null ? topic : `${topic} ${queueAndOffset(queue, offset)}`)
  const small = [place, reason, host, by && t("life.by", { by }), job && t("life.job", { job })].filter(Boolean).join(" · ")
  return (
    <li>
      <span>{at === null ? "—" : format.clock(at, true)}</span>
      {/* A copy was made before it was sent, and says itself when. */}
      <span>{at !== null && kind !== "copied_from" && since(at)}</span>
      <span className={classes.mark} data-kind={kind} />
      <span>
        {t(`life.kinds.${kind}`, { group: group ?? "" })}
        {small && <small>{small}</small>}
      </span>
    </li>
  )
}
