import { type ReactNode, useMemo } from "react"
import { useTranslation } from "react-i18next"
import { DataTable } from "@/components/data-table/data-table"
import { useSeveralBrokers } from "@/hooks/use-several-brokers"
import type { MessageSummary } from "@/lib/api-types"
import { messageColumns } from "./message-columns"

interface MessagesTableProps {
  rows: MessageSummary[]
  selectedId?: string | undefined
  onRow: (message: MessageSummary) => void
  onEnd?: (() => void) | undefined
  withTopic?: boolean
  natural?: boolean
  end?: ReactNode
}

export const rowIdOf = ({ broker, topic, queue_id, queue_offset }: MessageSummary) => `${broker} ${topic} ${queue_id} ${queue_offset}`

export function MessagesTable({ rows, selectedId, onRow, onEnd, withTopic = true, natural = false, end }: MessagesTableProps) {
  const { t } = useTranslation()
  const withBroker = useSeveralBrokers()
  const columns = useMemo(() => messageColumns(t, withTopic, withBroker), [t, withTopic, withBroker])
  const selected = rows.find(({ message_id }) => message_id === selectedId)
  return (
    <DataTable
      label={t("nav.messages")}
      columns={columns}
      rows={rows}
      rowId={rowIdOf}
      selectedId={selected && rowIdOf(selected)}
      onRow={onRow}
      onEnd={onEnd}
      natural={natural}
      end={end}
    />
  )
}
