import { SegmentedControl } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DataTable } from "@/components/data-table/data-table"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import type { RedrivePreview } from "@/lib/api-types"
import { count } from "@/lib/format"
import { isUnread } from "../redrive"
import { useLetterColumns } from "../use-letter-columns"

const ENDS = ["first", "last"] as const

/** The dead letters that a redrive would send first and last; nothing is sent for it. */
export function WouldSend({ query, group }: { query: UseQueryResult<RedrivePreview>; group: string }) {
  const { t } = useTranslation()
  const [end, setEnd] = useState<(typeof ENDS)[number]>("first")
  const columns = useLetterColumns()
  const { messages, stored, skipped } = query.data ?? { messages: 0, stored: null, skipped: 0 }
  const isUnknown = query.data !== undefined && isUnread(query.data)
  return (
    <QueryPanel
      query={query}
      title={t("redriveWizard.would")}
      note={query.data && !isUnknown && t("redriveWizard.wouldNote", { n: count(messages), stored: stored === null ? "—" : count(stored) })}
      actions={
        <SegmentedControl size="xs" aria-label={t("forecast.messages")} value={end} onChange={setEnd} data={ENDS.map((value) => ({ value, label: t(`forecast.ends.${value}`) }))} />
      }
      what={t("deadLetters.dryRunFailed")}
      isEmpty={(found) => found.messages === 0}
      empty={isUnknown ? <Empty small title={t("states.unknown")} next={t("redriveWizard.unread", { group })} /> : <Empty small title={t("redriveWizard.nothing", { group })} next={skipped > 0 ? t("redriveWizard.allSkipped", { count: skipped, n: count(skipped) }) : t("redriveWizard.nothingNext")} />}
    >
      {(found) =>
        found[end].length === 0 ? (
          <Empty small title={t("redriveWizard.noMore")} />
        ) : (
          <DataTable natural label={t(`forecast.ends.${end}`)} columns={columns} rows={found[end]} rowId={({ broker, queue_id, queue_offset }) => `${broker} ${queue_id} ${queue_offset}`} />
        )
      }
    </QueryPanel>
  )
}
