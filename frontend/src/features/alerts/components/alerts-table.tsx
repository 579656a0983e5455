import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { LastKnown } from "@/components/values/last-known"
import { Unknown } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { Alert } from "@/lib/api-types"
import { begunOf } from "../begun"
import { measured } from "../measure"
import { AlertState } from "./alert-state"
import { LimitRail } from "./limit-rail"

const column = columnsFor<Alert>()

export interface AlertsTableProps {
  alerts: Alert[]
  selectedId: string | undefined
  onAlert: (alert: Alert) => void
}

/** The open alerts, firing first; a value that nobody measures now says how old it is. */
export function AlertsTable({ alerts, selectedId, onAlert }: AlertsTableProps) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("shown", t("alerts.state"), { width: 136 }, ({ shown }) => <AlertState state={shown} />),
      column("rule", t("alerts.rule"), { isName: true }, ({ rule }) => rule.name),
      column("subject", t("alerts.subject"), { isSecondary: true, minWidth: 480 }, ({ subject }) => subject),
      column("cluster", t("alerts.cluster"), { isSecondary: true, minWidth: 1000 }, ({ cluster }) => cluster),
      column("rail", "", { width: 110, minWidth: 620, ends: ["0", "2 ×"], label: t("alerts.ofLimit") }, (alert) => (
        <LimitRail value={valueNow(alert)} limit={alert.rule.limit} state={alert.shown} />
      )),
      column("value", t("alerts.now"), { align: "end", isStrong: true }, (alert) => <ValueNow alert={alert} />),
      column("limit", t("alerts.limit"), { align: "end", minWidth: 700 }, (alert) => <Measured alert={alert} value={alert.rule.limit} />),
      column("since", t("alerts.for"), { align: "end", minWidth: 480 }, (alert) => <Since alert={alert} />),
    ],
    [t],
  )
  return <DataTable natural label={t("nav.alerts")} columns={columns} rows={alerts} rowId={({ id }) => id} onRow={onAlert} selectedId={selectedId} />
}

/** A value in the unit of its metric, or that it is not known. */
export function Measured({ alert, value }: { alert: Alert; value: number | null }) {
  const format = useFormat()
  return value === null ? <Unknown /> : <>{measured(alert.rule.metric, value, format)}</>
}

/** The value of an open alert now, or what it was and how long ago; of a resolved one the value that resolved it. */
export function ValueNow({ alert }: { alert: Alert }) {
  const format = useFormat()
  const value = valueNow(alert)
  const { last_known: last } = alert
  if (value !== null || alert.state === "resolved") return <Measured alert={alert} value={value} />
  return <LastKnown at={last?.at}>{last ? measured(alert.rule.metric, last.value, format) : undefined}</LastKnown>
}

export function Since({ alert }: { alert: Alert }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (alert.shown === "silenced" && alert.silenced_until) return <>{t("alerts.until", { time: format.when(alert.silenced_until) })}</>
  return alert.resolved_at ? <Time at={alert.resolved_at} /> : <Ago at={begunOf(alert)} />
}

export const valueNow = (alert: Alert): number | null => (alert.state === "resolved" ? alert.value : alert.value_now)
