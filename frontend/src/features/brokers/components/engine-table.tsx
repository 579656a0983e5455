import { IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Ago } from "@/components/values/time"
import type { EngineServer } from "../engine-servers"

const column = columnsFor<EngineServer>()

/** The servers of etcd, and which of them a controller does not reach. Nothing where a file keeps the decisions. */
export function EngineTable({ servers }: { servers: EngineServer[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("endpoint", t("controllers.server"), { isName: true }, ({ endpoint }) => <span className="mono">{endpoint}</span>),
      column("state", t("broker.state"), {}, (server) => <State of={server} />),
    ],
    [t],
  )
  if (servers.length === 0) return null
  return <DataTable natural label={t("controllers.servers")} columns={columns} rows={servers} rowId={({ endpoint }) => endpoint} />
}

function State({ of: { missedBy, since, isTried } }: { of: EngineServer }) {
  const { t } = useTranslation()
  if (!isTried) return <UnknownBadge>{t("controllers.notTried")}</UnknownBadge>
  if (missedBy.length === 0)
    return (
      <Badge tone="quiet" icon={IconCircleCheck}>
        {t("broker.answers")}
      </Badge>
    )
  return (
    <>
      <Badge tone="crit" icon={IconPlugConnectedX}>
        {t("controllers.missedBy", { names: missedBy.join(t("list.comma")) })}
      </Badge>{" "}
      {since !== null && (
        <small>
          <Ago at={since} />
        </small>
      )}
    </>
  )
}
