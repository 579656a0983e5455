import { Anchor } from "@mantine/core"
import type { TFunction } from "i18next"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { MissingBrokers } from "@/components/states/missing-brokers"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable, Num } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import { paths } from "@/config/paths"
import type { GroupClient, GroupClients as Told } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { count } from "@/lib/format"
import { useAbility } from "@/hooks/use-ability"
import { useUrlState } from "@/hooks/use-url-state"
import { useGroupClients } from "../api/get-group-clients"
import { GroupClientPanel } from "./group-client"
import classes from "./groups.module.css"

const column = columnsFor<GroupClient>()

export function GroupClients({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const clients = useGroupClients(cluster, group)
  const [{ client: shown }, change] = useUrlState()
  const columns = useMemo(
    () => [
      column("client", t("groups.client"), { isName: true }, (client) => (
        <span className="mono" title={client.client_id}>
          {client.protocol === "native" ? <Anchor component="button" inherit onClick={() => change({ client: client.client_id })}>{nameOf(client)}</Anchor> : nameOf(client)}
        </span>
      )),
      column("protocol", t("groups.protocol"), {}, (client) => t(`groups.protocols.${client.protocol}`)),
      column("address", t("groups.address"), { isSecondary: true }, (client) => client.address),
      column("language", t("groups.language"), { isSecondary: true, minWidth: 560 }, ({ language }) => language ?? <NotApplicable />),
      column("version", t("groups.version"), { isSecondary: true, minWidth: 620 }, ({ version }) => version ?? <NotApplicable />),
      column("queues", t("groups.queues"), { align: "end", minWidth: 480 }, (client) => client.queues ?? <NotApplicable />),
      column("since", t("groups.since"), { align: "end", isSecondary: true, minWidth: 760 }, ({ since }) => <Time at={since} />),
      column("in_flight", t("groups.inFlight"), { align: "end", minWidth: 520 }, ({ in_flight: leased }) =>
        leased === null ? <NotApplicable /> : <Num value={leased} />,
      ),
      column("last_receive", t("groups.lastReceive"), { align: "end", isSecondary: true, minWidth: 680 }, ({ last_receive_at: at }) => <Ago at={at} />),
    ],
    [t, change],
  )
  const { isLacking } = useAbility(cluster, "lease")
  const receive = { method: "POST", path: paths.receive(cluster, group, "TOPIC"), body: { max_messages: 1, wait_ms: 20_000 } } as const
  return (
    <>
    <QueryPanel
      query={clients}
      title={t("groups.tabs.clients")}
      what={t("groups.clientsFailed")}
      isEmpty={hasNone}
      empty={
        <Empty
          title={t("groups.noClients")}
          next={t(isLacking ? "groups.noNativeClientsNext" : "groups.noClientsNext")}
          actions={isLacking ? undefined : <CodeBlock language="curl" text={curlOf(receive)} />}
        />
      }
    >
      {(told) => (
        <>
          <Gaps told={told} />
          {told.items.length > 0 && <DataTable natural label={t("groups.tabs.clients")} columns={columns} rows={told.items} rowId={rowIdOf} />}
        </>
      )}
    </QueryPanel>
    {shown !== undefined && <GroupClientPanel cluster={cluster} group={group} client={shown} onClose={() => change({ client: undefined })} />}
    </>
  )
}

/** A caller over HTTP is a token of a user; two callers may share an address, and one may have several. */
const nameOf = ({ client_id: id, user }: GroupClient): string => (user === null || user === id ? id : `${id} (${user})`)
const rowIdOf = ({ client_id: id, user, address }: GroupClient): string => `${id} ${user ?? ""} ${address}`

const isWhole = ({ missing, callers_known: areCallersKnown }: Told): boolean => missing.length === 0 && areCallersKnown
const hasNone = (told: Told): boolean => told.items.length === 0 && isWhole(told)

/** What may hide further clients; that none is known then does not say that none is there. */
function Gaps({ told: { items, missing, callers_known: areCallersKnown } }: { told: Told }) {
  const { t } = useTranslation()
  return (
    <>
      <MissingBrokers missing={missing} />
      {!areCallersKnown && <Callout>{t("groups.callersUnknown")}</Callout>}
      {items.length === 0 && <Empty small title={t("groups.noClientKnown")} />}
    </>
  )
}

/** What a client holds: queues, or messages out on lease. */
function loadOf({ queues, in_flight: leased }: GroupClient, t: TFunction): string {
  if (leased !== null) return t("groups.leasedBy", { count: leased, n: count(leased) })
  return queues === null ? "" : t("groups.queuesOf", { count: queues })
}

/** The same clients in short, beside the queues. */
export function ClientsBrief({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const clients = useGroupClients(cluster, group)
  return (
    <QueryPanel
      query={clients}
      title={t("groups.tabs.clients")}
      note={clients.data && `${count(clients.data.items.length)}${isWhole(clients.data) ? "" : "+"}`}
      what={t("groups.clientsFailed")}
      isEmpty={hasNone}
      empty={<Empty small title={t("groups.noClients")} next={t("groups.noClientsNext")} />}
    >
      {(told) => (
        <div>
          <Gaps told={told} />
          {told.items.map((client) => (
            <div key={rowIdOf(client)} className={classes.client}>
              <span className="mono truncate" title={client.client_id}>
                {nameOf(client)}
              </span>
              <span>{loadOf(client, t)}</span>
              <small>{[t(`groups.protocols.${client.protocol}`), client.version].filter(Boolean).join(" ")}</small>
              <small>{client.address}</small>
            </div>
          ))}
        </div>
      )}
    </QueryPanel>
  )
}
