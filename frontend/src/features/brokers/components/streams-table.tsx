import { IconCircleCheck, IconRefresh } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout, Panel } from "@/components/layout/panel"
import { Num } from "@/components/values/num"
import type { LogStream, Replicas } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"

const column = columnsFor<LogStream>()

/** Who copies the master's log, as the master says; a master that does not tell is no master without slaves. */
export function StreamsTable({ of: { streams, streams_reason: reason, master_id: master, mode, failover, told } }: { of: Replicas }) {
  const { t } = useTranslation()
  const nobody = master !== null ? "replicas.noMasterEnd" : (told ?? failover) ? "decisions.notElected" : mode === "failover" ? "replicas.masterUnknown" : "replicas.noMasterEnd"
  const columns = useMemo(
    () => [
      column("id", t("replicas.id"), { isName: true, width: 56 }, ({ broker_id: id }) => <Num value={id} reason={t("replicas.streams.noId")} write={String} />),
      column("address", t("broker.address"), { isSecondary: true, minWidth: 480 }, ({ address }) => <span className="mono">{address}</span>),
      column("near", t("broker.state"), {}, ({ in_sync: isNear }) => (
        <Badge tone={isNear ? "quiet" : "warn"} icon={isNear ? IconCircleCheck : IconRefresh}>
          {t(isNear ? "replicas.streams.near" : "replicas.streams.far")}
        </Badge>
      )),
      column("acked", t("replicas.streams.acked"), { align: "end", minWidth: 620 }, ({ acked }) => <Num value={acked} write={count} />),
      column("lacking", t("replicas.behind"), { align: "end", isStrong: true }, ({ lacking_bytes: lacking }) => <Num value={lacking} write={bytes} />),
      column("rate", t("replicas.streams.rate"), { align: "end", minWidth: 760 }, ({ bytes_per_second: rate }) => <Num value={rate} write={bytes} />),
    ],
    [t],
  )
  return (
    <Panel title={t("replicas.streams.title")} note={t("replicas.streams.note")}>
      {streams === null && <Callout>{reason === null ? t(nobody) : reasonIn(t, reason)}</Callout>}
      {streams?.length === 0 && <Callout>{t("replicas.streams.none")}</Callout>}
      {streams !== null && streams.length > 0 && (
        <DataTable natural label={t("replicas.streams.title")} columns={columns} rows={[...streams]} rowId={({ address }) => address} />
      )}
    </Panel>
  )
}
