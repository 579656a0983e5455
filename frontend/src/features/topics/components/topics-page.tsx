import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { paths } from "@/config/paths"
import { useFrozenOrder } from "@/hooks/use-frozen-order"
import { useUrlState } from "@/hooks/use-url-state"
import { count } from "@/lib/format"
import { useTopics } from "../api/get-topics"
import { CreateTopic } from "./create-topic"
import { TopicFilters } from "./topic-filters"
import { TopicsTable } from "./topics-table"

const DEFAULT_SORT = "-max_lag"

interface TopicsPageProps {
  cluster: string
  /** Why it is not known which topics there are; null where that is known. */
  unknownReason?: string | null
}

export function TopicsPage({ cluster, unknownReason = null }: TopicsPageProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const filter = { search: state.search, kind: state.kind ?? "normal", sort: state.sort ?? DEFAULT_SORT, message_type: state.type }
  const topics = useTopics(cluster, filter)
  const read = topics.data?.pages.flatMap(({ items }) => items)
  const rows = useFrozenOrder(read, topics.isPlaceholderData ? null : JSON.stringify([cluster, filter]))
  const total = topics.data?.pages.at(-1)?.total ?? 0
  const isCreating = state.new === "topic"
  return (
    <DockedPage drawer={isCreating && <CreateTopic cluster={cluster} onClose={() => change({ new: undefined })} />}>
      <Page
        fill
        updatedAt={topics.dataUpdatedAt}
        staleAfterMs={45_000}
        title={t("nav.topics")}
        facts={rows && t("topics.facts", { n: count(rows.length), total: count(Math.max(total, rows.length)) })}
        actions={
          <>
            <RefreshButton label={t("actions.refreshOrder")} />
            <CurlButton request={{ path: paths.topics(cluster), query: filter }} />
            <NeedsRight right="manage">
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "topic" })}>
                {t("topics.create")}
              </Button>
            </NeedsRight>
          </>
        }
      >
        <TopicFilters kind={filter.kind} type={filter.message_type} search={filter.search ?? ""} />
        <TopicsTable
          cluster={cluster}
          query={topics}
          rows={rows}
          sort={filter.sort}
          onSort={(sort) => change({ sort: sort === DEFAULT_SORT ? undefined : sort })}
          unknownReason={unknownReason}
          onCreate={() => change({ new: "topic" })}
        />
      </Page>
    </DockedPage>
  )
}
