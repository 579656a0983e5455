import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Empty } from "@/components/states/empty"
import { MissingBrokers } from "@/components/states/missing-brokers"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import type { GroupSubscription, GroupSubscriptions as Told } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { useGroupSubscriptions } from "../api/get-group-subscriptions"

const rowIdOf = ({ topic, expression, type }: GroupSubscription): string => `${topic} ${type} ${expression}`

function noteOf({ consistent, items }: Told, t: TFunction): string | undefined {
  if (items.length === 0 || consistent === false) return undefined
  return consistent === null ? t("members.unsure") : t("members.agree")
}

const column = columnsFor<GroupSubscription>()

export function GroupSubscriptions({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const subscriptions = useGroupSubscriptions(cluster, group)
  const columns = useMemo(
    () => [
      column("topic", t("groups.topic"), { isName: true }, ({ topic }) => (
        <Link to="/topics/$topic" params={{ topic }}>
          {topic}
        </Link>
      )),
      column("expression", t("groups.expression"), {}, ({ expression }) => <span className="mono">{expression}</span>),
      column("type", t("groups.type"), { isSecondary: true }, ({ type }) => type),
      column("clients", t("members.subscribers"), { minWidth: 520 }, ({ clients }) =>
        clients === null ? <NotApplicable /> : <span className="mono">{clients.join(t("list.comma"))}</span>,
      ),
    ],
    [t],
  )
  return (
    <QueryPanel
      query={subscriptions}
      title={t("groups.tabs.subscriptions")}
      what={t("groups.subscriptionsFailed")}
      note={subscriptions.data && noteOf(subscriptions.data, t)}
      isEmpty={({ items, missing }) => items.length + missing.length === 0}
      empty={<Empty title={t("groups.noSubscription")} next={t("groups.noSubscriptionNext")} />}
    >
      {({ items, consistent, silent, missing }) => (
        <>
          <MissingBrokers missing={missing} />
          {consistent === false && <Callout>{t("members.disagree")}</Callout>}
          {silent.length > 0 && <Callout>{t("members.silent", { clients: silent.map(({ client_id: id, reason }) => `${id} (${reasonIn(t, reason)})`).join(t("list.comma")) })}</Callout>}
          {items.length === 0 ? <Empty small title={t("groups.noSubscription")} /> : <DataTable natural label={t("groups.tabs.subscriptions")} columns={columns} rows={items} rowId={rowIdOf} />}
        </>
      )}
    </QueryPanel>
  )
}
