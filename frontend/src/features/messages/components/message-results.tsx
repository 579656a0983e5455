import { Button, Group } from "@mantine/core"
import type { ReactNode } from "react"
import { Trans, useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { Failed } from "@/components/states/failed"
import { Loading } from "@/components/states/loading"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { ReadFromSlaves } from "@/components/states/read-from-slaves"
import { useFormat, useLanguage } from "@/hooks/use-format"
import type { UrlState } from "@/hooks/use-url-state"
import type { MessageSummary } from "@/lib/api-types"
import { count } from "@/lib/format"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { boundsOf, lookupOf, modeOf, rangeFault, wantedKeysOf } from "../search-state"
import type { FoundMessages } from "../use-found-messages"
import { KeysBar } from "./keys-bar"
import classes from "./messages.module.css"
import { MayWait, soughtOf } from "./may-wait"
import { MissingBrokers } from "./missing-brokers"
import { MessagesTable } from "./messages-table"
import { ScanBar } from "./scan-bar"
import { VerdictBar } from "./verdict-bar"

interface MessageResultsProps {
  state: UrlState
  now: number
  found: FoundMessages
  open: string | undefined
  onShow: (message: MessageSummary) => void
  onChange: (patch: UrlState) => void
}

export function MessageResults({ state, now, found, open, onShow, onChange }: MessageResultsProps) {
  const { answer, rows, queuePage, keys, scan } = found
  return (
    <>
      {found.isAsked && <Summary state={state} now={now} />}
      {answer && <VerdictBar answer={answer} matches={rows?.length ?? 0} />}
      {keys && <KeysBar answer={keys} />}
      {scan && <ScanBar scan={scan} />}
      <MissingBrokers missing={found.missing} />
      <ReadFromSlaves slaves={found.fromSlaves} />
      <Panel grow>
        <Results found={found} state={state} open={open} onShow={onShow} />
      </Panel>
      {queuePage && <QueuePager page={queuePage} state={state} onChange={onChange} />}
    </>
  )
}

/** What was asked, in words. */
function Summary({ state, now }: { state: UrlState; now: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { from, to } = boundsOf(state, now)
  const mode = lookupOf(state)
  if (mode === "id" || mode === "offset") return null
  const values = {
    key: state.key ?? "",
    topic: state.topic ?? "",
    from: from ? format.when(from) : t("messages.oldest"),
    to: to ? format.when(to) : t("time.present"),
  }
  if (mode === "keys") {
    const n = wantedKeysOf(state).length
    return <p className={classes.summary}>{t("find.keysSummary", { ...values, count: n, n: count(n), topic: state.topic ?? t("find.inAllTopics") })}</p>
  }
  return (
    <p className={classes.summary}>
      {mode === "key" ? <Trans i18nKey="messages.keySummary" values={values} components={{ b: <b /> }} /> : t("messages.timeSummary", values)}
    </p>
  )
}

function Results({ found, state, open, onShow }: Pick<MessageResultsProps, "found" | "state" | "open" | "onShow">) {
  const { t } = useTranslation()
  const { rows, error, isAsked, more } = found
  const mode = modeOf(state)
  const sought = soughtOf(state)
  const mayWait = sought && <MayWait sought={sought} />
  const fault = mode === "id" || mode === "offset" ? null : rangeFault(state)
  if (fault) return <Empty title={t(`messages.faults.${fault}`)} />
  if (rows === undefined) {
    if (error) return <NotFoundOrFailed error={error} retry={found.retry} actions={mayWait} />
    if (isAsked) return <Loading skeleton={<SkeletonRows rows={8} />} />
    return <Empty title={t(`messages.start.${mode}`)} next={t("messages.startNext")} />
  }
  const isPartial = isPartly(found)
  if (rows.length === 0) return <Empty title={t("messages.none")} next={t(isPartial ? "messages.notAllRead" : "messages.noneNext")} actions={mayWait} />
  const end = t(isPartial ? "messages.notAllRead" : "messages.end")
  return (
    <MessagesTable
      rows={rows}
      selectedId={open}
      onRow={onShow}
      onEnd={more}
      end={<p className={classes.end}>{isComing(found) ? t("states.loadingMore") : end}</p>}
    />
  )
}

const isComing = ({ more, scan }: FoundMessages) => more !== undefined || scan?.isRunning === true

function isPartly({ missing, answer, keys, scan }: FoundMessages): boolean {
  return missing.length > 0 || (answer ?? keys)?.verdict === "partial" || (scan !== undefined && !scan.end?.complete)
}

function NotFoundOrFailed({ error, retry, actions }: { error: unknown; retry: () => void; actions: ReactNode }) {
  const { t } = useTranslation()
  const language = useLanguage()
  if (asProblem(error).status === 404) return <Empty title={t("messages.notThere")} next={problemIn(t, language, asProblem(error))} actions={actions} />
  return <Failed what={t("messages.failed")} error={error} retry={retry} />
}

const PAGE = 32

function QueuePager({ page, state, onChange }: { page: NonNullable<FoundMessages["queuePage"]>; state: UrlState; onChange: (patch: UrlState) => void }) {
  const { t } = useTranslation()
  const offset = Number(state.offset)
  const go = (next: number) => onChange({ offset: String(next), open: undefined })
  return (
    <Group gap={8}>
      <Button size="xs" disabled={offset <= page.min_offset} onClick={() => go(Math.max(page.min_offset, offset - PAGE))}>
        {t("messages.older")}
      </Button>
      <Button size="xs" disabled={page.next_offset >= page.max_offset} onClick={() => go(page.next_offset)}>
        {t("messages.newer")}
      </Button>
      <span className="micro">
        {page.max_offset > page.min_offset ? t("messages.bounds", { min: count(page.min_offset), max: count(page.max_offset - 1) }) : t("messages.emptyQueue")}
      </span>
    </Group>
  )
}
