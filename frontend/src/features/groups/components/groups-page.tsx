import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useCallback, useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { ColumnsButton, DensityButton, FilterInput, FilterRight, FilterRow } from "@/components/data-table/table-tools"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { paths } from "@/config/paths"
import { useFrozenOrder } from "@/hooks/use-frozen-order"
import { useUrlState } from "@/hooks/use-url-state"
import type { GroupSummary } from "@/lib/api-types"
import { count } from "@/lib/format"
import { isPaused } from "@/lib/lag"
import { reasonIn } from "@/lib/reasons"
import { type GroupsFilter, useGroups } from "../api/get-groups"
import { BulkBar } from "./bulk-bar"
import { CloneGroup } from "./clone-group"
import { CreateGroup } from "./create-group"
import { groupColumns } from "./group-columns"
import { GroupsTable } from "./groups-table"

const DEFAULT_SORT = "-lag"
const TROUBLE = ["unknown", "growing", "stalled", "inconsistent", "consuming", "caught_up", "idle"]
const NO_TROUBLE = 4

const byTrouble = (rows: GroupSummary[]): GroupSummary[] =>
  [...rows].sort((a, b) => rank(a) - rank(b) || (b.lag ?? 0) - (a.lag ?? 0))

/** Unknown first, then what grows, then what stands still or disagrees, then the rest by lag. */
const rank = (group: GroupSummary): number => (isPaused(group) ? NO_TROUBLE : Math.min(TROUBLE.indexOf(group.state), NO_TROUBLE))

interface GroupsPageProps {
  cluster: string
  /** Why it is not known which groups there are; null where that is known. */
  unknownReason?: string | null
}

export function GroupsPage({ cluster, unknownReason = null }: GroupsPageProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const filter = { search: state.search, sort: state.sort ?? DEFAULT_SORT }
  const groups = useGroups(cluster, filter)
  const { rows, isByTrouble, total } = useRows(cluster, filter, groups)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const choose = useCallback((names: readonly string[]) => setChosen(new Set(names)), [])
  const create = () => change({ new: "group" })
  const close = () => change({ new: undefined, from: undefined })
  return (
    <DockedPage drawer={<NewGroup cluster={cluster} wanted={state.new} source={state.from} onClose={close} />}>
      <Page
        fill
        updatedAt={groups.dataUpdatedAt}
        staleAfterMs={45_000}
        title={t("nav.groups")}
        facts={rows && t(isByTrouble ? "groups.troubleFacts" : "groups.facts", { n: count(rows.length), total: count(Math.max(total, rows.length)) })}
        actions={
          <>
            <RefreshButton label={t("actions.refreshOrder")} />
            <CurlButton request={{ path: paths.groups(cluster), query: filter }} />
            <NeedsRight right="manage">
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={create}>
                {t("groups.create")}
              </Button>
            </NeedsRight>
          </>
        }
      >
        {chosen.size > 0 ? (
          <BulkBar cluster={cluster} chosen={chosen} shown={rows?.map(({ name }) => name) ?? []} onChoose={choose} />
        ) : (
          <FilterRow>
            <FilterInput value={filter.search ?? ""} onChange={(search) => change({ search })} placeholder={t("groups.filter")} />
            <FilterRight>
              <DensityButton />
              <ColumnsButton table="groups" columns={groupColumns(t, 1)} />
            </FilterRight>
          </FilterRow>
        )}
        <QueryPanel
          grow
          query={{ ...groups, data: rows, refetch: groups.refetch as never }}
          what={t("groups.failed")}
          skeleton={<SkeletonRows rows={12} />}
          isEmpty={(items) => items.length === 0}
          empty={<NoGroups isFiltered={filter.search !== undefined} unknownReason={unknownReason} onCreate={create} />}
        >
          {(items) => (
            <GroupsTable
              cluster={cluster}
              rows={items}
              chosen={chosen}
              onChoose={choose}
              sort={filter.sort}
              onSort={(sort) => change({ sort: sort === DEFAULT_SORT ? undefined : sort })}
              onEnd={groups.hasNextPage && !groups.isFetchingNextPage ? () => void groups.fetchNextPage() : undefined}
            />
          )}
        </QueryPanel>
      </Page>
    </DockedPage>
  )
}

interface NewGroupProps {
  cluster: string
  wanted: string | undefined
  source: string | undefined
  onClose: () => void
}

function NewGroup({ cluster, wanted, source, onClose }: NewGroupProps) {
  if (wanted === "group") return <CreateGroup cluster={cluster} onClose={onClose} />
  if (wanted === "clone" && source) return <CloneGroup key={source} cluster={cluster} source={source} onClose={onClose} />
  return null
}

/** The rows in the order that stands still; unknown is trouble too, and on top where one page holds the whole list. */
function useRows(cluster: string, filter: GroupsFilter, groups: ReturnType<typeof useGroups>) {
  const read = groups.data?.pages.flatMap(({ items }) => items)
  const isByTrouble = filter.sort === DEFAULT_SORT && groups.data?.pages[0]?.next_cursor === null
  // A list that was read before anything was measured has no order yet: the first lags give it one.
  const [measured, setMeasured] = useState<string | null>(null)
  if (measured !== cluster && !groups.isPlaceholderData && read?.some(({ lag }) => lag !== null)) setMeasured(cluster)
  const rows = useFrozenOrder(read && isByTrouble ? byTrouble(read) : read, groups.isPlaceholderData ? null : JSON.stringify([cluster, filter, measured === cluster]))
  return { rows, isByTrouble, total: groups.data?.pages.at(-1)?.total ?? 0 }
}

interface NoGroupsProps {
  isFiltered: boolean
  unknownReason: string | null
  onCreate: () => void
}

function NoGroups({ isFiltered, unknownReason, onCreate }: NoGroupsProps) {
  const { t } = useTranslation()
  if (unknownReason !== null) return <Empty title={t("groups.unknownList")} next={reasonIn(t, unknownReason)} />
  if (isFiltered) return <Empty title={t("groups.noMatch")} next={t("groups.noMatchNext")} />
  return (
    <Empty
      title={t("groups.none")}
      next={t("groups.noneNext")}
      actions={
        <NeedsRight right="manage">
          <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={onCreate}>
            {t("groups.createOne")}
          </Button>
        </NeedsRight>
      }
    />
  )
}
