import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { paths } from "@/config/paths"
import type { GroupClient } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { useGroupClients } from "../api/get-group"
import classes from "./groups.module.css"

const column = columnsFor<GroupClient>()

export function GroupClients({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const clients = useGroupClients(cluster, group)
  const columns = useMemo(
    () => [
      column("client", t("groups.client"), { isName: true }, (client) => <span className="mono">{client.client_id}</span>),
      column("protocol", t("groups.protocol"), {}, (client) => t(`groups.protocols.${client.protocol}`)),
      column("address", t("groups.address"), { isSecondary: true }, (client) => client.address),
      column("language", t("groups.language"), { isSecondary: true, minWidth: 560 }, (client) => client.language),
      column("version", t("groups.version"), { isSecondary: true, minWidth: 620 }, (client) => client.version),
      column("queues", t("groups.queues"), { align: "end" }, (client) => client.queues ?? <NotApplicable />),
    ],
    [t],
  )
  const receive = { method: "POST", path: paths.receive(cluster, group, "TOPIC"), body: { max_messages: 1, wait_ms: 20_000 } } as const
  return (
    <QueryPanel
      query={clients}
      title={t("groups.tabs.clients")}
      what={t("groups.clientsFailed")}
      isEmpty={(items) => items.length === 0}
      empty={
        <Empty
          title={t("groups.noClients")}
          next={t("groups.noClientsNext")}
          actions={<CodeBlock language="curl" text={curlOf(receive)} />}
        />
      }
    >
      {(items) => <DataTable natural label={t("groups.tabs.clients")} columns={columns} rows={items} rowId={({ client_id }) => client_id} />}
    </QueryPanel>
  )
}

/** The same clients in short, beside the queues. */
export function ClientsBrief({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const clients = useGroupClients(cluster, group)
  return (
    <QueryPanel
      query={clients}
      title={t("groups.tabs.clients")}
      note={clients.data && String(clients.data.length)}
      what={t("groups.clientsFailed")}
      isEmpty={(items) => items.length === 0}
      empty={<Empty small title={t("groups.noClients")} next={t("groups.noClientsNext")} />}
    >
      {(items) => (
        <div>
          {items.map((client) => (
            <div key={client.client_id} className={classes.client}>
              <span className="mono truncate" title={client.client_id}>
                {client.client_id}
              </span>
              <span>{client.queues === null ? "" : t("groups.queuesOf", { count: client.queues })}</span>
              <small>{`${t(`groups.protocols.${client.protocol}`)} ${client.version}`}</small>
              <small>{client.address}</small>
            </div>
          ))}
        </div>
      )}
    </QueryPanel>
  )
}
