import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { DataTable } from "@/components/data-table/data-table"
import { useHiddenColumns } from "@/components/data-table/table-tools"
import { useAbility } from "@/hooks/use-ability"
import { usePhone } from "@/hooks/use-media"
import { usePinnedFirst } from "@/hooks/use-pinned-first"
import { useView } from "@/hooks/use-view"
import type { GroupSummary } from "@/lib/api-types"
import { pinnedGroups } from "@/lib/preferences"
import { createStore } from "@/lib/store"
import { useGroupStates } from "../api/get-groups"
import { chooseColumn, groupColumns, pinColumn } from "./group-columns"
import { GroupRows } from "./group-rows"

// A short list of its own, as that of a topic, has no order of the reader's.
const NO_PINS = createStore<string[]>([])

interface GroupsTableProps {
  cluster: string
  rows: GroupSummary[]
  sort?: string
  onSort?: (sort: string) => void
  onEnd?: (() => void) | undefined
  natural?: boolean
  /** The groups that are chosen for a change of many; without it none can be. */
  chosen?: ReadonlySet<string>
  onChoose?: (names: readonly string[]) => void
}

/** Groups with their newest numbers; the rails share the largest lag as their scale. */
export function GroupsTable({ cluster, rows, sort, onSort, onEnd, natural = false, chosen, onChoose }: GroupsTableProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { ordered, pinnedCount } = usePinnedFirst(rows, natural ? NO_PINS : pinnedGroups)
  const { inView, onView } = useView(ordered)
  const states = useGroupStates(cluster, inView)
  const hidden = useHiddenColumns("groups")
  const isPhone = usePhone()
  const shown = useMemo(() => ordered.map((row) => ({ ...row, ...states.get(row.name) })), [ordered, states])
  const scale = Math.max(1, ...shown.map(({ lag }) => lag ?? 0))
  const lease = useAbility(cluster, "lease")
  const noLeases = lease.isLacking ? t("abilities.lacks", { ability: t("abilities.things.lease") }) : null
  const columns = useMemo(() => {
    const all = natural ? groupColumns(t, scale, noLeases) : [pinColumn(t), ...groupColumns(t, scale, noLeases)]
    return chosen && onChoose ? [chooseColumn(t, chosen, onChoose), ...all] : all
  }, [t, scale, noLeases, natural, chosen, onChoose])
  if (isPhone) return <GroupRows rows={shown} scale={scale} onEnd={onEnd} />
  return (
    <DataTable
      label={t("nav.groups")}
      columns={columns}
      rows={shown}
      rowId={({ name }) => name}
      sort={sort}
      {...(onSort && { onSort })}
      hidden={hidden}
      natural={natural}
      pinnedCount={pinnedCount}
      onRow={({ name }) => void navigate({ to: "/groups/$group", params: { group: name } })}
      onEnd={onEnd}
      onView={onView}
    />
  )
}
