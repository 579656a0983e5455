import { useTranslation } from "react-i18next"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import type { ActivityEvent } from "@/lib/api-types"
import { useActivity } from "../api/get-events"
import { EventRows } from "./event-rows"

/** What happened to one topic or group. */
export function ResourceEvents({ cluster, kind, name }: { cluster: string; kind: "topic" | "group"; name: string }) {
  const { t } = useTranslation()
  return (
    <QueryPanel
      query={useActivity(cluster)}
      title={t("activity.title")}
      note={t("activity.whenSeen")}
      what={t("activity.failed")}
      isEmpty={({ items }) => !items.some((event) => isAbout(event, kind, name))}
      empty={<Empty title={t("activity.noneOf", { name })} next={t("activity.noneOfNext")} />}
    >
      {({ items, gaps }) => <EventRows items={items.filter((event) => isAbout(event, kind, name))} gaps={gaps} />}
    </QueryPanel>
  )
}

function isAbout(event: ActivityEvent, kind: "topic" | "group", name: string): boolean {
  if (event[kind] === name) return true
  return kind === "topic" && event.moves.some(({ topic }) => topic === name)
}
