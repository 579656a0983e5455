import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { RefreshButton } from "@/components/forms/refresh-button"
import { RangePicker } from "@/components/forms/range-picker"
import { Columns, Page } from "@/components/layout/page"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { Panel } from "@/components/layout/panel"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { useUrlState } from "@/hooks/use-url-state"
import type { Overview } from "@/lib/api-types"
import { rangeOf } from "@/lib/ranges"
import { useOverview } from "../api/get-overview"
import { OverviewChart } from "./overview-chart"
import { OverviewFigures } from "./overview-figures"
import { WorstGroups } from "./worst-groups"

interface OverviewPageProps {
  cluster: string
  /** Panels of other features, under the groups. */
  side: ReactNode
}

/** How the cluster is, at one glance. */
export function OverviewPage({ cluster, side }: OverviewPageProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const range = rangeOf(state.range, "1h")
  const overview = useOverview(cluster)
  return (
    <Page
      title={t("nav.overview")}
      updatedAt={overview.dataUpdatedAt}
      facts={
        <>
          <DataAge at={measuredAt(overview.data, overview.dataUpdatedAt)} />
          {overview.data?.limited && <> · {t("overview.limited")}</>}
        </>
      }
      actions={
        <>
          <RangePicker value={range} fallback="1h" />
          <CurlButton request={{ path: paths.overview(cluster) }} />
          <RefreshButton />
        </>
      }
    >
      <QueryBody query={overview} what={t("overview.failed")} skeleton={<Panel><SkeletonBlock height={79} /></Panel>}>
        {(data) => <OverviewFigures overview={data} />}
      </QueryBody>
      <Columns
        main={<OverviewChart cluster={cluster} range={range} overview={overview.data} />}
        side={
          <>
            {overview.data && <WorstGroups cluster={cluster} overview={overview.data} />}
            {side}
          </>
        }
      />
    </Page>
  )
}

/** When the figures were measured, in ms: while nothing answers, what arrives is no fresher than what is shown; 0 for never. */
function measuredAt(overview: Overview | undefined, updatedAt: number): number {
  if (!overview || overview.brokers_answering > 0 || overview.total_lag !== null) return updatedAt
  return overview.last_known ? Date.parse(overview.last_known.at) : 0
}

function DataAge({ at }: { at: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  if (at === 0) return null
  return <>{t("states.dataOld", { age: format.duration(Math.max(1_000, now - at)) })}</>
}
