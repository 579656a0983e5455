import { SegmentedControl } from "@mantine/core"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout, Panel } from "@/components/layout/panel"
import { NotApplicable, Num } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { bytes } from "@/lib/format"
import type { Forecast, ForecastQueue } from "../report"
import { DifferencePlace } from "./difference-place"
import classes from "./jobs.module.css"

const queueColumn = columnsFor<ForecastQueue>()
const messageColumn = columnsFor<Forecast["first"][number]>()

/** What a dry run counted, queue by queue, and the messages at both ends. */
export function ForecastTables({ forecast, topic }: { forecast: Forecast; topic: string }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      queueColumn("queue", t("topics.queue"), { align: "end", isStrong: true, width: 56 }, ({ queue_id }) => queue_id),
      queueColumn("broker", t("topics.broker"), { isSecondary: true, minWidth: 720 }, ({ broker }) => broker),
      queueColumn("from", t("jobs.fromOffset"), { align: "end", minWidth: 520 }, ({ from }) => <Num value={from} />),
      queueColumn("to", t("jobs.toOffset"), { align: "end", minWidth: 520 }, ({ to }) => <Num value={to} />),
      queueColumn("messages", t("forecast.pass"), { align: "end", isStrong: true }, ({ messages }) => <Num value={messages} />),
      queueColumn("damaged", t("jobs.counters.damaged"), { align: "end", isSecondary: true, minWidth: 640 }, ({ damaged }) => <Num value={damaged} />),
      queueColumn("bytes", t("forecast.bytes"), { align: "end", isSecondary: true, minWidth: 420 }, (queue) => <Num value={queue.bytes} write={bytes} reason={t("forecast.bytesUnknown")} />),
      queueColumn("first", t("forecast.first"), { align: "end", isSecondary: true, minWidth: 860 }, ({ first_at }) => <Time at={first_at} />),
      queueColumn("last", t("forecast.last"), { align: "end", isSecondary: true, minWidth: 860 }, ({ last_at }) => <Time at={last_at} />),
    ],
    [t],
  )
  return (
    <>
      <Panel title={t("forecast.touched")} note={t(forecast.found > forecast.messages ? "forecast.touchedCut" : "forecast.touchedNote")}>
        <DataTable natural label={t("forecast.touched")} columns={columns} rows={forecast.queues} rowId={({ broker, queue_id }) => `${broker} ${queue_id}`} />
      </Panel>
      {forecast.first.length > 0 && <Ends forecast={forecast} topic={topic} />}
    </>
  )
}

function Ends({ forecast, topic }: { forecast: Forecast; topic: string }) {
  const { t } = useTranslation()
  const [end, setEnd] = useState<"first" | "last">("first")
  const columns = useMemo(
    () => [
      messageColumn("at", t("forecast.stored"), { align: "end", isSecondary: true }, ({ stored_at }) => <Time at={stored_at} withMs />),
      messageColumn("place", t("forecast.place"), { align: "end" }, (message) => <DifferencePlace place={message} topic={topic} />),
      messageColumn("keys", t("jobs.keys"), { isName: true }, ({ keys }) => <span className="mono">{keys.join(" ")}</span>),
      messageColumn("tag", t("jobs.tag"), { isSecondary: true, minWidth: 520 }, ({ tag }) => tag ?? <NotApplicable />),
      messageColumn("size", t("jobs.size"), { align: "end", isSecondary: true, minWidth: 620 }, ({ size_bytes }) => bytes(size_bytes)),
      messageColumn("body", t("jobs.body"), { minWidth: 760, width: "40%" }, ({ body }) => (body === null ? <NotApplicable /> : <span className={`mono ${classes.preview}`}>{body}</span>)),
    ],
    [t, topic],
  )
  return (
    <Panel
      title={t("forecast.messages")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t("forecast.messages")}
          value={end}
          onChange={(next) => setEnd(next as "first" | "last")}
          data={(["first", "last"] as const).map((value) => ({ value, label: t(`forecast.ends.${value}`) }))}
        />
      }
    >
      {forecast.hidden && <Callout>{t("forecast.hidden", { right: t("rights.bodies") })}</Callout>}
      <DataTable natural label={t(`forecast.ends.${end}`)} columns={columns} rows={forecast[end]} rowId={({ broker, queue_id, queue_offset }) => `${broker} ${queue_id} ${queue_offset}`} />
    </Panel>
  )
}
