import { IconCircleCheck, IconCrown, IconPlugConnectedX } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NotApplicable, Num, Unknown } from "@/components/values/num"
import { Ago } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { ControllerState } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"

const column = columnsFor<ControllerState>()

/** One row for each controller: whether it leads, where its decisions are kept, and how fresh its knowledge is. */
export function ControllersTable({ controllers }: { controllers: readonly ControllerState[] }) {
  const { t } = useTranslation()
  const { duration } = useFormat()
  const columns = useMemo(
    () => [
      column("address", t("broker.address"), { isName: true }, ({ address }) => <span className="mono">{address}</span>),
      column("role", t("broker.role"), {}, (each) => <Role of={each} />),
      column("since", t("controllers.since"), { align: "end", minWidth: 620 }, ({ leading, led_since: since, reachable, reason }) =>
        leading ? since === null ? <Unknown reason={t("controllers.sinceUntold")} /> : <Ago at={since} /> : reachable ? <NotApplicable /> : <Unknown reason={reason} />,
      ),
      column("engine", t("controllers.engine"), {}, (each) => <Engine of={each} />),
      column("age", t("controllers.age"), { align: "end", minWidth: 480 }, ({ age_ms: age, reason }) => <Num value={age} write={duration} reason={reason ?? t("controllers.notRead")} />),
      column("took", t("controllers.took"), { align: "end", minWidth: 720 }, ({ last_decision_ms: took, reason }) => <Num value={took} write={duration} reason={reason ?? t("controllers.noDecision")} />),
      column("size", t("controllers.size"), { align: "end", isSecondary: true, minWidth: 860 }, (each) => <Size of={each} />),
      column("names", t("controllers.names"), { align: "end", isSecondary: true, minWidth: 940 }, ({ names, reachable, reason }) => <Num value={reachable ? names.length : null} write={count} reason={reason} />),
    ],
    [t, duration],
  )
  return <DataTable natural label={t("controllers.title")} columns={columns} rows={[...controllers]} rowId={({ address }) => address} />
}

function Role({ of: { reachable, leading, reason } }: { of: ControllerState }) {
  const { t } = useTranslation()
  if (!reachable)
    return (
      <Badge tone="crit" icon={IconPlugConnectedX}>
        {reason === null ? t("cluster.silent") : reasonIn(t, reason)}
      </Badge>
    )
  return (
    <Badge tone="quiet" icon={leading ? IconCrown : IconCircleCheck}>
      {t(leading ? "controllers.leads" : "controllers.follows")}
    </Badge>
  )
}

function Engine({ of: { engine, engine_version: version, reason } }: { of: ControllerState }) {
  const { t } = useTranslation()
  if (engine === null) return <Unknown reason={reason} />
  const name = engine === "file" ? t("controllers.file") : engine
  return <>{version === null ? name : `${name} ${version}`}</>
}

/** What is used of what the engine allows; a file has no limit. */
function Size({ of: { engine, size_bytes: size, quota_bytes: quota, reason } }: { of: ControllerState }) {
  const { t } = useTranslation()
  if (engine === "file" && size === null) return <NotApplicable />
  return <Num value={size} write={(used) => (quota ? t("controllers.sizeOf", { size: bytes(used), quota: bytes(quota) }) : bytes(used))} reason={reason} />
}
