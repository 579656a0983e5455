import { memo } from "react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { jsonTokens } from "@/components/code/tokens"
import { Ident } from "@/components/values/ident"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { bytes, count, queueAndOffset } from "@/lib/format"
import type { Dropped, TailMessage } from "../frames"
import classes from "./live.module.css"

const MOST_SHOWN = 200

interface MessageRowProps {
  message: TailMessage
  withBroker: boolean
  isOpen: boolean
  onOpen: (message: TailMessage) => void
}

/** One message; drawn once, however many come after it. */
export const MessageRow = memo(function MessageRow({ message, withBroker, isOpen, onOpen }: MessageRowProps) {
  const format = useFormat()
  return (
    <tr data-selected={isOpen || undefined} onClick={() => onOpen(message)}>
      <td data-column="stored">
        <button type="button" className={classes.open} onClick={() => onOpen(message)}>
          {format.clock(message.stored_at, true)}
        </button>
      </td>
      <td data-column="topic">{message.topic}</td>
      {withBroker && <td data-column="broker">{message.broker}</td>}
      <td data-column="queue">{queueAndOffset(message.queue_id, message.offset)}</td>
      <td data-column="id">
        <Ident id={message.message_id} />
      </td>
      <td data-column="tag">{message.tag && <Tag>{message.tag}</Tag>}</td>
      <td data-column="key" className="mono">
        {message.keys[0]}
        {message.keys.length > 1 && ` +${message.keys.length - 1}`}
      </td>
      <td data-column="body">
        <Body message={message} />
      </td>
      <td data-column="size">{bytes(message.size_bytes)}</td>
    </tr>
  )
}, isSameRow)

function isSameRow(before: MessageRowProps, after: MessageRowProps): boolean {
  return before.message === after.message && before.isOpen === after.isOpen && before.withBroker === after.withBroker
}

function Body({ message: { body, body_hidden, unjudged } }: { message: TailMessage }) {
  if (unjudged !== null || body === null) {
    return (
      <span className={classes.unjudged}>
        <span className="hatch" aria-hidden />
        {unjudged ?? body_hidden}
      </span>
    )
  }
  const text = body.encoding === "json" ? JSON.stringify(body.data) : String(body.data)
  const short = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
  if (body.encoding !== "json") return <span className="mono">{short}</span>
  return (
    <span className="mono">
      {jsonTokens(short).map((token, at) => (
        <span key={at} data-token={token.kind} className={classes.token}>
          {token.text}
        </span>
      ))}
    </span>
  )
}

/** What is not shown, where it is missing. */
export const DroppedRow = memo(function DroppedRow({ dropped, columns }: { dropped: Dropped; columns: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [{ topics = "" }] = useUrlState()
  const { n, reason, from, to } = dropped
  const topic = topics.split(",")[0]
  return (
    <tr className={classes.dropped}>
      <td colSpan={columns}>
        <span className={classes.gap}>
          <span className="hatch" aria-hidden />
          <b>{n === null ? t("tail.droppedUnknown") : <DroppedCount n={n} />}</b>
          <span>{t(`tail.reasons.${reason}`)}</span>
          {from && to && <span>{t("tail.between", { from: format.clock(from), to: format.clock(to) })}</span>}
          {from && to && topic && (
            <Link to="/messages" search={{ mode: "time", topic, span: "custom", from, to }}>
              {t("tail.searchRest")}
            </Link>
          )}
          <span className="hatch" aria-hidden />
        </span>
      </td>
    </tr>
  )
})

function DroppedCount({ n }: { n: number }) {
  const { t } = useTranslation()
  return t("tail.droppedRow", { n: count(n) })
}

