import { useTranslation } from "react-i18next"
import { DataTable } from "@/components/data-table/data-table"
import { MoreRows } from "@/components/data-table/more-rows"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import type { DeadLetter } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useLetters } from "../api/get-letters"
import type { Picked } from "../picks"
import { useLetterColumns } from "../use-letter-columns"

interface LettersPanelProps {
  cluster: string
  group: string
  picked: Picked | undefined
  onOpen: (letter: DeadLetter) => void
}

/** The dead letters of a group, or of its one picked cause; a row opens the whole message. */
export function LettersPanel({ cluster, group, picked, onOpen }: LettersPanelProps) {
  const { t } = useTranslation()
  const query = useLetters(cluster, group, picked)
  const pages = query.data?.pages
  const rows = pages?.flatMap(({ items }) => items)
  const read = pages?.reduce((sum, page) => sum + page.read, 0) ?? 0
  const stored = pages?.[0]?.stored ?? null
  const columns = useLetterColumns()
  return (
    <Panel title={t("deadLetters.letters", { group })} note={pages && t("deadLetters.readOf", { read: count(read), stored: stored === null ? "—" : count(stored) })}>
      <QueryBody query={{ ...query, data: rows, refetch: query.refetch as never }} what={t("deadLetters.lettersFailed")} isEmpty={(items) => items.length === 0} empty={<Empty small title={t("deadLetters.noneOf", { group })} />}>
        {(items) => (
          <DataTable natural label={t("deadLetters.letters", { group })} columns={columns} rows={items} rowId={({ broker, queue_id, queue_offset }) => `${broker} ${queue_id} ${queue_offset}`} onRow={onOpen} />
        )}
      </QueryBody>
      <MoreRows query={query} />
    </Panel>
  )
}
