import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { type ReactNode, useEffect } from "react"
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
import type { TopicSummary } from "@/lib/api-types"
import { useStore } from "@/lib/store"
import { useTopic } from "../api/get-topic"
import { useTopics } from "../api/get-topics"
import { chosenTopics } from "../chosen-topics"
import { BulkBar } from "./bulk-bar"
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
    <DockedPage drawer={isCreating && <NewTopic cluster={cluster} />}>
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
        <Above cluster={cluster} shown={rows}>
          <TopicFilters kind={filter.kind} type={filter.message_type} search={filter.search ?? ""} />
        </Above>
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

/** The form of a new topic, with the settings of the one that the address names. */
function NewTopic({ cluster }: { cluster: string }) {
  const [state, change] = useUrlState()
  const like = useTopic(cluster, state.like)
  if (state.like && like.isPending) return null
  return <CreateTopic key={state.like} cluster={cluster} like={like.data} onClose={() => change({ new: undefined, like: undefined })} />
}

const NONE: TopicSummary[] = []

/** The filters; while topics are ticked, what can be done with them. */
function Above({ cluster, shown = NONE, children }: { cluster: string; shown: TopicSummary[] | undefined; children: ReactNode }) {
  const chosen = useStore(chosenTopics)
  useEffect(() => () => chosenTopics.set([]), [cluster])
  return chosen.length > 0 ? <BulkBar cluster={cluster} chosen={chosen} shown={shown.map(({ name }) => name)} /> : children
}
