import { IconHistory } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { useFormat } from "@/hooks/use-format"
import { useSeveralBrokers } from "@/hooks/use-several-brokers"
import { count } from "@/lib/format"
import type { TailMessage } from "../frames"
import { waitingCount } from "../tail-state"
import type { TailStream } from "../use-tail-stream"
import { DroppedRow, MessageRow } from "./tail-rows"
import classes from "./live.module.css"

interface TailPanelProps {
  stream: TailStream
  /** Nothing will come: the server or the page takes no such tail. */
  isRefused: boolean
  openId: string | undefined
  onOpen: (message: TailMessage) => void
}

const COLUMNS = ["stored", "topic", "broker", "queue", "id", "tag", "key", "body", "size"] as const

/** The messages, the newest on top; they stand still while paused. */
export function TailPanel({ stream, isRefused, openId, onOpen }: TailPanelProps) {
  const { t } = useTranslation()
  const { state, clear } = stream
  const withBroker = useSeveralBrokers()
  const columns = withBroker ? COLUMNS : COLUMNS.filter((name) => name !== "broker")
  return (
    <Panel
      grow
      title={<PanelTitle stream={stream} />}
      actions={
        <button type="button" className={classes.link} onClick={clear}>
          {t("tail.clear")}
        </button>
      }
    >
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={t("tail.table")}>
        {state.rows.length === 0 && <Nothing stream={stream} isRefused={isRefused} />}
        {state.rows.length > 0 && (
          <table className={classes.table}>
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} data-column={name}>
                    {t(`tail.columns.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {state.rows.map((row) =>
                row.type === "message" ? (
                  <MessageRow key={row.id} message={row} withBroker={withBroker} isOpen={row.message_id === openId} onOpen={onOpen} />
                ) : (
                  <DroppedRow key={row.id} dropped={row} columns={columns.length} />
                ),
              )}
            </tbody>
          </table>
        )}
      </div>
    </Panel>
  )
}

function PanelTitle({ stream: { state } }: { stream: TailStream }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (state.pausedAt === null) return <span className={classes.words}>{t("tail.rowsWords")}</span>
  const waiting = waitingCount(state)
  return (
    <span className={classes.words}>
      <Badge tone="grey" icon={IconHistory}>
        {t("tail.pausedAt", { at: format.clock(state.pausedAt) })}
      </Badge>
      {t("tail.waitingWords", { count: waiting, n: count(waiting) })}
    </span>
  )
}

function Nothing({ stream: { state }, isRefused }: Pick<TailPanelProps, "stream" | "isRefused">) {
  const { t } = useTranslation()
  if (isRefused) return <Empty title={t("tail.nothingRefused")} next={t("tail.nothingRefusedNext")} />
  // Until the server says from where it reads, what is stored may pass unseen.
  if (state.phase === "starting") return <Empty title={t("tail.connecting")} />
  if (state.counts.read > 0 && state.counts.matched === 0) {
    return <Empty title={t("tail.nothingPasses")} next={t("tail.nothingPassesNext", { n: count(state.counts.read) })} />
  }
  return <Empty title={t("tail.nothing")} next={t("tail.nothingNext")} />
}
