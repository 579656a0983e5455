import { Button } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Definitions } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable, Num } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import type { GroupMember } from "@/lib/api-types"
import { rate } from "@/lib/format"
import { useGroupClient } from "../api/get-group-client"

type Queue = GroupMember["queues"][number]
type Pace = GroupMember["topics"][number]

const queueColumn = columnsFor<Queue>()
const paceColumn = columnsFor<Pace>()
const ms = (value: number) => value.toFixed(1)

interface GroupClientProps {
  cluster: string
  group: string
  client: string
  onClose: () => void
}

/** What a native client says of itself: what it holds of each queue, and how fast it is. */
export function GroupClientPanel({ cluster, group, client, onClose }: GroupClientProps) {
  const { t } = useTranslation()
  const query = useGroupClient(cluster, group, client)
  return (
    <QueryPanel
      query={query}
      title={t("members.details", { client })}
      what={t("members.failed")}
      actions={
        <Button variant="subtle" onClick={onClose}>
          {t("members.close")}
        </Button>
      }
    >
      {(member) => (
        <>
          <Definitions
            items={[
              [t("members.started"), <Time key="started" at={member.started_at} />],
              [t("members.threads"), member.threads ?? <NotApplicable key="threads" />],
              [t("members.cached"), <Num key="cached" value={member.cached_messages} />],
            ]}
          />
          <Queues rows={member.queues} />
          {member.topics.length > 0 && <Paces rows={member.topics} />}
        </>
      )}
    </QueryPanel>
  )
}

function Queues({ rows }: { rows: Queue[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      queueColumn("topic", t("members.topic"), { isName: true }, ({ topic }) => topic),
      queueColumn("queue", t("members.queue"), {}, ({ broker, queue_id: id }) => `${broker} / ${id}`),
      queueColumn("committed", t("members.committed"), { align: "end" }, ({ commit_offset: offset }) => <Num value={offset} />),
      queueColumn("cached", t("members.cachedOf"), { align: "end" }, ({ cached_messages: cached }) => <Num value={cached} />),
      queueColumn("locked", t("members.locked"), { minWidth: 620 }, ({ locked }) => (locked ? t("members.yes") : <NotApplicable />)),
      queueColumn("pulled", t("members.lastPull"), { align: "end", isSecondary: true, minWidth: 680 }, ({ last_pull_at: at }) => <Ago at={at} />),
      queueColumn("consumed", t("members.lastConsume"), { align: "end", isSecondary: true, minWidth: 760 }, ({ last_consume_at: at }) => <Ago at={at} />),
    ],
    [t],
  )
  if (rows.length === 0) return <Empty small title={t("members.noQueue")} next={t("members.noQueueNext")} />
  return <DataTable natural label={t("groups.queues")} columns={columns} rows={rows} rowId={({ topic, broker, queue_id: id }) => `${topic} ${broker} ${id}`} />
}

function Paces({ rows }: { rows: Pace[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      paceColumn("topic", t("members.topic"), { isName: true }, ({ topic }) => topic),
      paceColumn("pull", t("members.pullTime"), { align: "end", minWidth: 620 }, ({ pull_ms: value }) => ms(value)),
      paceColumn("consume", t("members.consumeTime"), { align: "end" }, ({ consume_ms: value }) => ms(value)),
      paceColumn("rate", t("members.consumed"), { align: "end" }, ({ consumed_per_second: value }) => rate(value)),
      paceColumn("failed", t("members.failedRate"), { align: "end", minWidth: 520 }, ({ failed_per_second: value }) => rate(value)),
      paceColumn("hour", t("members.failedHour"), { align: "end", minWidth: 680 }, ({ failed_last_hour: value }) => <Num value={value} />),
    ],
    [t],
  )
  return <DataTable natural label={t("members.pace")} columns={columns} rows={rows} rowId={({ topic }) => topic} />
}
