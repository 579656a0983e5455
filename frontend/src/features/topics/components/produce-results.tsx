import { IconCircleCheck, IconCircleDashed, IconCircleX } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { useFormat } from "@/hooks/use-format"
import { useSeveralBrokers } from "@/hooks/use-several-brokers"
import { count, queueAndOffset, shortId } from "@/lib/format"
import type { Problem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import type { ProduceResult } from "@/lib/api-types"
import type { Sending } from "../use-sending"
import classes from "./topics.module.css"

export type SendOutcome = Omit<ProduceResult, "entry_id" | "problem"> & { problem: Problem | null }
export type SentMessage = SendOutcome & { id: number; elapsedMs: number }

/** What came of each message; an unknown end is said to be unknown. */
export function ProduceResults({ topic, sent, sending }: { topic: string; sent: SentMessage[]; sending: Sending | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  const withBroker = useSeveralBrokers()
  const stored = sent.filter(({ status }) => status === "stored" || status === "stored_not_flushed").length
  return (
    <Panel title={t("produce.results")} note={stored > 0 ? count(stored) : undefined}>
      {sent.length === 0 && <Empty small title={t("produce.noResult")} next={t("produce.noResultNext")} />}
      {sending && sending.total > 1 && <Progress sending={sending} />}
      {sent.map((result) => (
        <div key={result.id} className={classes.sent}>
          <Outcome result={result} />
          {result.message_id ? (
            <Link to="/messages" search={{ mode: "id", topic, id: result.message_id }} className="mono" title={result.message_id}>
              {shortId(result.message_id)}
            </Link>
          ) : (
            <span className="dense">{result.problem && problemIn(t, format.language, result.problem)}</span>
          )}
          <span className="dense">
            {withBroker && result.broker !== undefined && `${result.broker} `}
            {result.queue_id !== undefined && result.offset !== undefined ? queueAndOffset(result.queue_id, result.offset) : ""}
          </span>
          <small className="micro">{format.milliseconds(result.elapsedMs)}</small>
        </div>
      ))}
    </Panel>
  )
}

function Progress({ sending }: { sending: Sending }) {
  const { t } = useTranslation()
  const { total, stored, failed, unknown } = sending
  return (
    <div className={classes.progress} role="status">
      <span className="dense">{t("produce.progress", { stored: count(stored), total: count(total) })}</span>
      {failed > 0 && <Badge tone="crit">{t("produce.failedCount", { n: count(failed) })}</Badge>}
      {unknown > 0 && <Badge tone="grey">{t("produce.unknownCount", { n: count(unknown) })}</Badge>}
    </div>
  )
}

function Outcome({ result }: { result: SendOutcome }) {
  const { t } = useTranslation()
  const looks = {
    stored: { tone: "ok", icon: IconCircleCheck },
    stored_not_flushed: { tone: "warn", icon: IconCircleCheck },
    unknown: { tone: "grey", icon: IconCircleDashed },
    failed: { tone: "crit", icon: IconCircleX },
  } as const
  return <Badge {...looks[result.status]}>{t(`produce.outcomes.${result.status}`)}</Badge>
}
