import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import type { GroupSubscription } from "@/lib/api-types"
import { useGroupSubscriptions } from "../api/get-group-subscriptions"

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
    ],
    [t],
  )
  return (
    <QueryPanel
      query={subscriptions}
      title={t("groups.tabs.subscriptions")}
      what={t("groups.subscriptionsFailed")}
      isEmpty={(items) => items.length === 0}
      empty={<Empty title={t("groups.noSubscription")} next={t("groups.noSubscriptionNext")} />}
    >
      {(items) => <DataTable natural label={t("groups.tabs.subscriptions")} columns={columns} rows={items} rowId={({ topic }) => topic} />}
    </QueryPanel>
  )
}
