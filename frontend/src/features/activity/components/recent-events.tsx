import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useActivity } from "../api/get-events"
import { EventRows } from "./event-rows"

const SHOWN = 6

/** What happened last in the cluster, for the overview. */
export function RecentEvents({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  return (
    <QueryPanel
      query={useActivity(cluster)}
      title={t("activity.recent")}
      actions={
        <Link to="/live" search={{ tab: "events" }}>
          {t("overview.all")}
        </Link>
      }
      what={t("activity.failed")}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty small title={t("activity.none")} />}
    >
      {({ items, gaps }) => <EventRows items={items.slice(0, SHOWN)} gaps={gaps} brief />}
    </QueryPanel>
  )
}
