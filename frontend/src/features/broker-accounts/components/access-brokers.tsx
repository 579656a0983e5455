import { IconCircleCheck, IconLockOpen } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Panel } from "@/components/layout/panel"
import { NotApplicable } from "@/components/values/num"
import { Ago } from "@/components/values/time"
import type { BrokerAccessControl } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./accounts.module.css"

const column = columnsFor<BrokerAccessControl>()

/** Whether each broker has access control on, and when it last changed its account files. */
export function AccessBrokers({ brokers }: { brokers: BrokerAccessControl[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("name", t("broker.name"), { isName: true }, ({ broker }) => broker),
      column("state", t("brokerAccounts.access"), {}, (broker) => <State broker={broker} />),
      column("files", t("brokerAccounts.files"), { isSecondary: true, minWidth: 620 }, ({ files }) =>
        files.length === 0 ? (
          <NotApplicable />
        ) : (
          files.map(({ file }) => (
            <span key={file} className={`mono ${classes.file}`} title={file}>
              {file}
            </span>
          ))
        ),
      ),
      column("changes", t("brokerAccounts.changes"), { align: "end", minWidth: 520 }, ({ files }) => (files.length === 0 ? <NotApplicable /> : String(files.reduce((sum, { changes }) => sum + changes, 0)))),
      column("changed", t("brokerAccounts.changedAt"), { align: "end", isSecondary: true, minWidth: 760 }, ({ files }) => <LastChange files={files} />),
    ],
    [t],
  )
  return (
    <Panel title={t("brokerAccounts.byBroker")} note={t("brokerAccounts.byBrokerNote")}>
      <DataTable natural label={t("brokerAccounts.byBroker")} columns={columns} rows={brokers} rowId={({ broker, address }) => `${broker} ${address}`} />
    </Panel>
  )
}

function State({ broker: { state, reason } }: { broker: BrokerAccessControl }) {
  const { t } = useTranslation()
  if (state === "on")
    return (
      <Badge tone="quiet" icon={IconCircleCheck}>
        {t("brokerAccounts.states.on")}
      </Badge>
    )
  if (state === "off")
    return (
      <Badge tone="warn" icon={IconLockOpen}>
        {t("brokerAccounts.states.off")}
      </Badge>
    )
  return (
    <span className={classes.wraps}>
      <UnknownBadge>{state === "unlisted" ? t("brokerAccounts.states.unlisted") : reasonIn(t, reason ?? "")}</UnknownBadge>
    </span>
  )
}

function LastChange({ files }: { files: BrokerAccessControl["files"] }) {
  const latest = files.flatMap(({ changed_at: at }) => at ?? []).sort().at(-1)
  return latest === undefined ? <NotApplicable /> : <Ago at={latest} />
}
