import { Button } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { DataTable } from "@/components/data-table/data-table"
import { useHiddenColumns } from "@/components/data-table/table-tools"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { usePhone } from "@/hooks/use-media"
import { useUrlState } from "@/hooks/use-url-state"
import { usePinnedFirst } from "@/hooks/use-pinned-first"
import { useView } from "@/hooks/use-view"
import type { TopicSummary } from "@/lib/api-types"
import { pinnedTopics } from "@/lib/preferences"
import { reasonIn } from "@/lib/reasons"
import { type useTopics, useTopicRates } from "../api/get-topics"
import { topicColumns } from "./topic-columns"
import { TopicRows } from "./topic-rows"

interface TopicsTableProps {
  cluster: string
  query: ReturnType<typeof useTopics>
  rows: TopicSummary[] | undefined
  sort: string
  onSort: (sort: string) => void
  unknownReason: string | null
  onCreate: () => void
}

export function TopicsTable({ cluster, query, rows, sort, onSort, unknownReason, onCreate }: TopicsTableProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const columns = useMemo(() => topicColumns(t), [t])
  const hidden = useHiddenColumns("topics")
  const isPhone = usePhone()
  const onEnd = query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined
  const { shown, pinnedCount, onView } = useShownRows(cluster, rows)
  return (
    <QueryPanel
      grow
      query={{ ...query, data: rows, refetch: query.refetch as never }}
      what={t("topics.failed")}
      skeleton={<SkeletonRows rows={12} />}
      isEmpty={(items) => items.length === 0}
      empty={<NoTopics unknownReason={unknownReason} onCreate={onCreate} />}
    >
      {() =>
        isPhone ? (
          <TopicRows rows={shown} onEnd={onEnd} />
        ) : (
          <DataTable
            label={t("nav.topics")}
            columns={columns}
            rows={shown}
            rowId={({ name }) => name}
            sort={sort}
            onSort={onSort}
            hidden={hidden}
            pinnedCount={pinnedCount}
            onRow={({ name }) => void navigate({ to: "/topics/$topic", params: { topic: name } })}
            onEnd={onEnd}
            onView={onView}
          />
        )
      }
    </QueryPanel>
  )
}

const NONE: TopicSummary[] = []

/** Pinned rows first, all with their newest numbers. */
function useShownRows(cluster: string, rows: TopicSummary[] = NONE) {
  const { ordered, pinnedCount } = usePinnedFirst(rows, pinnedTopics)
  const { inView, onView } = useView(ordered)
  const rates = useTopicRates(cluster, inView)
  const shown = useMemo(() => ordered.map((row) => ({ ...row, ...rates.get(row.name) })), [ordered, rates])
  return { shown, pinnedCount, onView }
}

function NoTopics({ unknownReason, onCreate }: Pick<TopicsTableProps, "unknownReason" | "onCreate">) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  if (unknownReason !== null) return <Empty title={t("topics.unknownList")} next={reasonIn(t, unknownReason)} />
  if (state.search ?? state.kind ?? state.type) return <Empty title={t("topics.noMatch")} next={t("topics.noMatchNext")} />
  return (
    <Empty
      title={t("topics.none")}
      next={t("topics.noneNext")}
      actions={
        <NeedsRight right="manage">
          <Button variant="filled" onClick={onCreate}>
            {t("topics.create")}
          </Button>
        </NeedsRight>
      }
    />
  )
}
