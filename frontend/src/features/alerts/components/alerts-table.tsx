import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Unknown } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { Alert, Rule } from "@/lib/api-types"
import { measured } from "../measure"
import { AlertState } from "./alert-state"
import { LimitRail } from "./limit-rail"

const column = columnsFor<Alert>()

export interface AlertsTableProps {
  alerts: Alert[]
  rules: Rule[]
  selectedId: string | undefined
  onAlert: (alert: Alert) => void
}

/** The open alerts, firing first; a value is the one of this moment where the sampler still says it. */
export function AlertsTable({ alerts, rules, selectedId, onAlert }: AlertsTableProps) {
  const { t } = useTranslation()
  const columns = useMemo(() => {
    const now = (alert: Alert) => valueNow(alert, rules)
    return [
      column("shown", t("alerts.state"), { width: 136 }, ({ shown }) => <AlertState state={shown} />),
      column("rule", t("alerts.rule"), { isName: true }, ({ rule }) => rule.name),
      column("subject", t("alerts.subject"), { isSecondary: true, minWidth: 480 }, ({ subject }) => subject),
      column("cluster", t("alerts.cluster"), { isSecondary: true, minWidth: 1000 }, ({ cluster }) => cluster),
      column("rail", "", { width: 110, minWidth: 620, ends: ["0", "2 ×"], label: t("alerts.ofLimit") }, (alert) => (
        <LimitRail value={now(alert)} limit={alert.rule.limit} state={alert.shown} />
      )),
      column("value", t("alerts.now"), { align: "end", isStrong: true }, (alert) => <Measured alert={alert} value={alert.state === "no_data" ? null : now(alert)} />),
      column("limit", t("alerts.limit"), { align: "end", minWidth: 700 }, (alert) => <Measured alert={alert} value={alert.rule.limit} />),
      column("since", t("alerts.for"), { align: "end", minWidth: 480 }, (alert) => <Since alert={alert} />),
    ]
  }, [t, rules])
  return <DataTable natural label={t("nav.alerts")} columns={columns} rows={alerts} rowId={({ id }) => id} onRow={onAlert} selectedId={selectedId} />
}

/** A value in the unit of its metric, or that it is not known. */
export function Measured({ alert, value }: { alert: Alert; value: number | null }) {
  const format = useFormat()
  return value === null ? <Unknown /> : <>{measured(alert.rule.metric, value, format)}</>
}

export function Since({ alert }: { alert: Alert }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (alert.shown === "silenced" && alert.silenced_until) return <>{t("alerts.until", { time: format.when(alert.silenced_until) })}</>
  return alert.resolved_at ? <Time at={alert.resolved_at} /> : <Ago at={alert.since} />
}

/** The value of this moment if the alert is its rule's worst; else that of its last change. */
export function valueNow(alert: Alert, rules: Rule[]): number | null {
  if (alert.state === "resolved") return alert.value
  const rule = rules.find(({ id }) => id === alert.rule.id)
  const figures = rule?.figures.find(({ cluster, worst }) => cluster === alert.cluster && worst === alert.subject)
  return figures?.value ?? alert.value
}
