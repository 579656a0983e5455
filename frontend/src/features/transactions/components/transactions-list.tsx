import { Button, TextInput } from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { MoreRows } from "@/components/data-table/more-rows"
import { Callout, Panel, PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { MissingBrokers } from "@/components/states/missing-brokers"
import { NoneFits } from "@/components/states/none-fits"
import { QueryBody } from "@/components/states/query-panel"
import { Ident } from "@/components/values/ident"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { TransactionRow } from "@/lib/api-types"
import { useTransactions, type Wanted } from "../api/get-transactions"
import { Connected, NextCheck, StateBadge } from "./words"
import classes from "./transactions.module.css"

const column = columnsFor<TransactionRow>()

interface TransactionsListProps {
  cluster: string
  wanted: Wanted
  selected: string | undefined
  onFind: (names: Record<"key" | "topic" | "group", string | undefined>) => void
  onOpen: (row: TransactionRow) => void
}

/** The transactions of one state; a row opens the message. */
export function TransactionsList({ cluster, wanted, selected, onFind, onOpen }: TransactionsListProps) {
  const { t } = useTranslation()
  const query = useTransactions(cluster, wanted)
  const pages = query.data?.pages
  const rows = pages?.flatMap(({ items }) => items)
  const { missing, partial } = pages?.at(-1) ?? { missing: [], partial: [] }
  const columns = useColumns(wanted.state === "open")
  const idOf = ({ broker, topic, message_id: id, transaction_id: place }: TransactionRow) => `${broker} ${topic} ${id} ${place ?? ""}`
  return (
    <Panel title={t(`transactions.lists.${wanted.state}`)} actions={<Find key={[wanted.key, wanted.topic, wanted.group].join(" ")} wanted={wanted} onFind={onFind} />}>
      <MissingBrokers missing={missing} />
      {partial.map((broker) => (
        <Callout key={broker}>{t("transactions.partial", { broker })}</Callout>
      ))}
      <QueryBody
        query={{ ...query, data: rows, refetch: query.refetch as never }}
        what={t("transactions.listFailed")}
        isEmpty={(items) => items.length === 0}
        empty={<None wanted={wanted} isWhole={missing.length + partial.length === 0} hasMore={query.hasNextPage} onClear={() => onFind({ key: undefined, topic: undefined, group: undefined })} />}
      >
        {(items) => (
          <div className={classes.list}>
            <DataTable
              natural
              label={t(`transactions.lists.${wanted.state}`)}
              columns={columns}
              rows={items}
              rowId={idOf}
              selectedId={items.filter(({ transaction_id: id }) => id !== null && id === selected).map(idOf)[0]}
              onRow={onOpen}
            />
          </div>
        )}
      </QueryBody>
      <MoreRows query={query} />
      <PanelFoot>{t(`transactions.foot.${wanted.state}`)}</PanelFoot>
    </Panel>
  )
}

interface NoneProps {
  wanted: Wanted
  /** Every broker showed all that it has. */
  isWhole: boolean
  /** A page may have none although there are older ones. */
  hasMore: boolean
  onClear: () => void
}

/** That nothing fits a filter does not say that nothing is there; no more does a broker that is silent. */
function None({ wanted: { state, key, topic, group }, isWhole, hasMore, onClear }: NoneProps) {
  const { t } = useTranslation()
  const isFiltered = [key, topic, group].some((name) => name !== undefined)
  const known = isWhole ? t(`transactions.${isFiltered ? "noneFits" : "none"}.${state}`) : t("transactions.noneKnown")
  const title = hasMore ? t("transactions.noneSoFar") : known
  if (!isFiltered) return <Empty small title={title} next={t(`transactions.noneNext.${state}`)} />
  const names = [
    [t("transactions.key"), key],
    [t("transactions.topic"), topic],
    [t("transactions.group"), group],
  ] as const
  return <NoneFits title={title} wanted={names} onClear={onClear} />
}

function useColumns(isOpen: boolean) {
  const { t } = useTranslation()
  return useMemo(
    () => [
      column("age", t("transactions.age"), { isStrong: true }, ({ prepared_at: at }) => (at === null ? <Unknown /> : <Age at={at} />)),
      column("topic", t("transactions.topic"), { isName: true }, (row) => <TopicAndRest row={row} />),
      column("group", t("transactions.group"), { minWidth: 560 }, ({ group }) => group),
      column("key", t("transactions.key"), { isSecondary: true, minWidth: 560 }, ({ keys }) => keys.join(" ") || "—"),
      column("checks", t("transactions.checks"), { align: "end", minWidth: 560 }, ({ checks }) => checks ?? <Unknown />),
      ...(isOpen
        ? [
            column("next", t("transactions.next"), { minWidth: 760 }, (row) => <NextCheck row={row} />),
            column("producer", t("transactions.producer"), { minWidth: 660 }, (row) => <Connected is={row.producer_connected} />),
          ]
        : [column("state", t("transactions.state"), { minWidth: 560 }, (row) => <StateBadge state={row.state} />)]),
      column("broker", t("transactions.broker"), { isSecondary: true, minWidth: 860 }, ({ broker }) => broker),
      column("id", t("transactions.id"), { minWidth: 960 }, ({ message_id: id }) => <Ident id={id} />),
    ],
    [t, isOpen],
  )
}

/** The topic; below it what tells rows of a topic apart and how they stand, where the columns for it have no place. */
function TopicAndRest({ row: { topic, keys, group, message_id: id, checks, state } }: { row: TransactionRow }) {
  const { t } = useTranslation()
  return (
    <>
      {topic}
      <small className={classes.below}>{`${keys.join(" ") || id} · ${group}`}</small>
      <small className={classes.below}>
        {t("transactions.checks")} {checks ?? <Unknown />}
        {state !== "open" && ` · ${state === "unknown" ? t("states.unknown") : t(`transactions.states.${state}`)}`}
      </small>
    </>
  )
}

/** How long it has been open. */
function Age({ at }: { at: string }) {
  const format = useFormat()
  return <span title={format.when(at, true)}>{format.duration(Math.max(0, useNow() - Date.parse(at)))}</span>
}

interface FindProps {
  wanted: Wanted
  onFind: TransactionsListProps["onFind"]
}

/** Key or id, topic and producer group, all in full; Enter looks. */
function Find({ wanted, onFind }: FindProps) {
  const { t } = useTranslation()
  const [key, setKey] = useState(wanted.key ?? "")
  const [topic, setTopic] = useState(wanted.topic ?? "")
  const [group, setGroup] = useState(wanted.group ?? "")
  return (
    <form
      className={classes.tools}
      onSubmit={(event) => {
        event.preventDefault()
        onFind({ key: key.trim() || undefined, topic: topic.trim() || undefined, group: group.trim() || undefined })
      }}
    >
      <TextInput size="xs" aria-label={t("transactions.find")} placeholder={t("transactions.find")} leftSection={<IconSearch size={14} stroke={1.6} />} value={key} onChange={(event) => setKey(event.currentTarget.value)} />
      <TextInput size="xs" aria-label={t("transactions.topic")} placeholder={t("transactions.allTopics")} value={topic} onChange={(event) => setTopic(event.currentTarget.value)} />
      <TextInput size="xs" aria-label={t("transactions.group")} placeholder={t("transactions.allGroups")} value={group} onChange={(event) => setGroup(event.currentTarget.value)} />
      <Button size="xs" type="submit">
        {t("transactions.look")}
      </Button>
    </form>
  )
}
