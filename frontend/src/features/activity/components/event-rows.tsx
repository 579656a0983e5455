import { Link } from "@tanstack/react-router"
import { Fragment } from "react"
import { useTranslation } from "react-i18next"
import { Time } from "@/components/values/time"
import type { ActivityEvent } from "@/lib/api-types"
import { LOOKS } from "../kinds"
import { useEventWords } from "../use-event-words"
import classes from "./activity.module.css"

interface EventRowsProps {
  items: readonly ActivityEvent[]
  gaps?: ReadonlySet<number>
  /** The sentences alone. */
  brief?: boolean
}

const DELETED: ReadonlySet<string> = new Set(["topic_deleted", "group_deleted"])

/** Events, the newest first, and where some are lost. */
export function EventRows({ items, gaps, brief = false }: EventRowsProps) {
  const { t } = useTranslation()
  return (
    <ul className={classes.list}>
      {items.map((event) => (
        <Fragment key={event.seq}>
          <EventRow event={event} brief={brief} />
          {gaps?.has(event.seq) && <li className={classes.gap}>{t("activity.lost")}</li>}
        </Fragment>
      ))}
    </ul>
  )
}

function EventRow({ event, brief }: { event: ActivityEvent; brief: boolean }) {
  const { t } = useTranslation()
  const { sentence, details } = useEventWords()
  const { icon: EventIcon, tone } = LOOKS[event.kind]
  const known = brief ? [] : details(event)
  return (
    <li className={classes.event}>
      <small title={event.source === "seen" ? t("activity.seenTitle") : undefined}>
        <Time at={event.seen_at} />
      </small>
      <span className={classes.icon} data-tone={tone} aria-hidden>
        <EventIcon size={15} stroke={1.6} />
      </span>
      <span className={classes.what}>
        <Subject event={event}>{sentence(event)}</Subject>
        {known.length > 0 && <span className={classes.details}>{known.join(" · ")}</span>}
      </span>
    </li>
  )
}

/** The sentence as a link to what it is about, if that is still there. */
function Subject({ event, children }: { event: ActivityEvent; children: string }) {
  if (DELETED.has(event.kind)) return <>{children}</>
  if (event.alert) return <Link to="/alerts">{children}</Link>
  if (event.group !== null) return <Link to="/groups/$group" params={{ group: event.group }}>{children}</Link>
  if (event.topic !== null) return <Link to="/topics/$topic" params={{ topic: event.topic }}>{children}</Link>
  if (event.kind === "master_changed" && event.broker !== null) return <Link to="/broker/$broker" params={{ broker: event.broker }}>{children}</Link>
  return <>{children}</>
}
