import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { Callout, Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { useUrlState } from "@/hooks/use-url-state"
import { isInstant } from "@/lib/time"
import { useScheduledSummary } from "../api/get-summary"
import { dayBounds, dayStart } from "../days"
import { without } from "../without"
import { DueCalendar } from "./due-calendar"
import { ScheduledDrawer } from "./scheduled-drawer"
import { ScheduledFigures } from "./scheduled-figures"
import { ScheduledList } from "./scheduled-list"

const STALE_MS = 45_000
const MINUTE_MS = 60_000

export function ScheduledPage({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const { zone } = useFormat()
  const now = useNow(MINUTE_MS)
  const [state, change] = useUrlState()
  const today = dayStart(now, zone)
  const bounds = useMemo(() => dayBounds(today, zone), [today, zone])
  const query = useScheduledSummary(cluster, today, bounds.at(-1) ?? today)
  const wanted = { topic: state.topic, key: state.key, from: state.key ? undefined : state.from, to: state.key ? undefined : state.to }
  const { open } = state
  return (
    <DockedPage drawer={open && <ScheduledDrawer key={open} cluster={cluster} id={open} topic={state.of} onClose={() => change({ open: undefined, of: undefined })} />}>
      <Page
        title={t("nav.scheduled")}
        updatedAt={query.dataUpdatedAt}
        staleAfterMs={STALE_MS}
        facts={query.data && without(t, t("scheduled.facts", { count: query.data.waiting }), query.data.missing)}
        actions={
          <>
            <CurlButton request={{ path: paths.scheduled(cluster) }} />
            <RefreshButton label={t("actions.refresh")} />
          </>
        }
      >
        <QueryBody
          query={query}
          what={t("scheduled.summaryFailed")}
          skeleton={
            <Panel>
              <SkeletonRows rows={7} />
            </Panel>
          }
        >
          {(summary) => (
            <>
              <ScheduledFigures summary={summary} />
              {summary.partial && <Callout>{t("scheduled.partial")}</Callout>}
              <DueCalendar
                bounds={bounds}
                buckets={summary.buckets}
                missing={summary.missing}
                from={instant(state.from)}
                to={instant(state.to)}
                onPick={(span) => change({ from: span ? new Date(span.from).toISOString() : undefined, to: span ? new Date(span.to).toISOString() : undefined, key: undefined })}
              />
              <ScheduledList
                cluster={cluster}
                wanted={wanted}
                selected={open}
                onFind={(key) => change({ key })}
                onTopic={(topic) => change({ topic })}
                onClear={() => change({ key: undefined, topic: undefined, from: undefined, to: undefined })}
                onOpen={({ message_id: id, topic }) => change({ open: id, of: topic })}
              />
            </>
          )}
        </QueryBody>
      </Page>
    </DockedPage>
  )
}

/** A moment of the address, null for none. */
const instant = (text: string | undefined): number | null => (text && isInstant(text) ? Date.parse(text) : null)
