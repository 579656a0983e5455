import { Button, TextInput } from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { MoreRows } from "@/components/data-table/more-rows"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { MissingBrokers } from "@/components/states/missing-brokers"
import { NoneFits } from "@/components/states/none-fits"
import { QueryBody } from "@/components/states/query-panel"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { ScheduledMessage } from "@/lib/api-types"
import { useScheduled, type Wanted } from "../api/get-scheduled"
import { leftUntil } from "../days"
import classes from "./scheduled.module.css"

const column = columnsFor<ScheduledMessage>()

interface ScheduledListProps {
  cluster: string
  wanted: Wanted
  selected: string | undefined
  onFind: (key: string | undefined) => void
  onTopic: (topic: string | undefined) => void
  onClear: () => void
  onOpen: (message: ScheduledMessage) => void
}

/** What waits in the picked range, or what a key or id finds in all that waits; a row opens the message. */
export function ScheduledList({ cluster, wanted, selected, onFind, onTopic, onClear, onOpen }: ScheduledListProps) {
  const { t } = useTranslation()
  const query = useScheduled(cluster, wanted)
  const pages = query.data?.pages
  const rows = pages?.flatMap(({ items }) => items)
  const missing = pages?.at(-1)?.missing ?? []
  const columns = useMemo(
    () => [
      column("due", t("scheduled.due"), { isStrong: true }, ({ due_at: at }) => <Time at={at} withMs />),
      column("in", t("scheduled.in"), { minWidth: 520 }, ({ due_at: at }) => <Until at={at} />),
      column("topic", t("scheduled.topic"), { isName: true }, ({ topic }) => topic),
      column("key", t("scheduled.key"), { isSecondary: true, minWidth: 420 }, ({ keys }) => keys.join(" ") || "—"),
      column("tag", t("scheduled.tag"), { isSecondary: true, minWidth: 640 }, ({ tag }) => tag ?? "—"),
      column("stored", t("scheduled.stored"), { minWidth: 760 }, ({ stored_at: at }) => <Time at={at} />),
      column("id", t("scheduled.id"), { minWidth: 860 }, ({ message_id: id }) => <Ident id={id} />),
    ],
    [t],
  )
  return (
    <Panel title={t("scheduled.list")} actions={<Find key={[wanted.key, wanted.topic].join(" ")} wanted={wanted} onFind={onFind} onTopic={onTopic} />}>
      <MissingBrokers missing={missing} />
      <QueryBody
        query={{ ...query, data: rows, refetch: query.refetch as never }}
        what={t("scheduled.listFailed")}
        isEmpty={(items) => items.length === 0}
        empty={<None wanted={wanted} isWhole={missing.length === 0} onClear={onClear} />}
      >
        {(items) => (
          <DataTable
            natural
            label={t("scheduled.list")}
            columns={columns}
            rows={items}
            rowId={({ broker, message_id: id, topic }) => `${broker} ${topic} ${id}`}
            selectedId={items.map((row) => (row.message_id === selected ? `${row.broker} ${row.topic} ${row.message_id}` : "")).find(Boolean)}
            onRow={onOpen}
          />
        )}
      </QueryBody>
      <MoreRows query={query} />
      <PanelFoot>{t("scheduled.foot")}</PanelFoot>
    </Panel>
  )
}

interface NoneProps extends Pick<ScheduledListProps, "wanted" | "onClear"> {
  /** Every broker showed what it has. */
  isWhole: boolean
}

/** That nothing fits a filter does not say that nothing waits; no more does a broker that is silent. */
function None({ wanted: { key, topic, from, to }, isWhole, onClear }: NoneProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const isFiltered = [key, topic, from, to].some((bound) => bound !== undefined)
  const title = t(isWhole ? (isFiltered ? "scheduled.noneFits" : "scheduled.none") : "scheduled.noneKnown")
  if (!isFiltered) return <Empty small title={title} next={t("scheduled.noneNext")} />
  const names = [
    [t("scheduled.key"), key],
    [t("scheduled.topic"), topic],
    [t("scheduled.due"), from && to && t("scheduled.range", { from: format.when(from), to: format.when(to) })],
  ] as const
  return <NoneFits title={title} wanted={names} onClear={onClear} />
}

interface FindProps {
  wanted: Wanted
  onFind: (key: string | undefined) => void
  onTopic: (topic: string | undefined) => void
}

/** Key or id, and topic, both in full; Enter looks. */
function Find({ wanted, onFind, onTopic }: FindProps) {
  const { t } = useTranslation()
  const [key, setKey] = useState(wanted.key ?? "")
  const [topic, setTopic] = useState(wanted.topic ?? "")
  return (
    <form
      className={classes.tools}
      onSubmit={(event) => {
        event.preventDefault()
        onFind(key.trim() || undefined)
        onTopic(topic.trim() || undefined)
      }}
    >
      <TextInput size="xs" aria-label={t("scheduled.find")} placeholder={t("scheduled.find")} leftSection={<IconSearch size={14} stroke={1.6} />} value={key} onChange={(event) => setKey(event.currentTarget.value)} />
      <TextInput size="xs" aria-label={t("scheduled.topic")} placeholder={t("scheduled.allTopics")} value={topic} onChange={(event) => setTopic(event.currentTarget.value)} />
      <Button size="xs" type="submit">
        {t("scheduled.look")}
      </Button>
    </form>
  )
}

/** In how long, counting down. */
export function Until({ at }: { at: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const left = leftUntil(at, useNow())
  return <span>{left === 0 ? t("time.now") : format.duration(left)}</span>
}
