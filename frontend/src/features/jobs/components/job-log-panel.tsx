import { useLayoutEffect, useMemo, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { ActionIcon, Button, Tooltip } from "@mantine/core"
import { IconArrowDown, IconDownload } from "@tabler/icons-react"
import { CopyButton } from "@/components/code/copy-button"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { saveFile } from "@/lib/save-file"
import { useJobArtefacts } from "../api/get-job-artefacts"
import { useJobLog } from "../api/get-job-log"
import { cutOf, LIMIT_BYTES, linesOf, MOST_LINES } from "../log"
import { isActive } from "../progress"
import classes from "./jobs.module.css"

const FOLLOW_PX = 8

function toEnd(list: HTMLElement | null) {
  if (list) list.scrollTop = list.scrollHeight
}

const isAtEnd = (list: HTMLElement): boolean => list.scrollHeight - list.clientHeight - list.scrollTop < FOLLOW_PX

/** The log in its order, at its end; warnings stand out. It is not asked for where it would be refused. */
export function JobLogPanel({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const files = useJobArtefacts(job)
  const hidden = files.data?.log_hidden
  const log = useJobLog(job, hidden === null || files.isError)
  const text = log.data?.text ?? ""
  const lines = useMemo(() => linesOf(text), [text])
  const list = useRef<HTMLDivElement>(null)
  // Who scrolled back reads on undisturbed.
  const [isFollowing, setFollowing] = useState(true)
  useLayoutEffect(() => {
    if (isFollowing) toEnd(list.current)
  }, [isFollowing, lines])
  const isWhole = log.data?.isWhole ?? false
  const note = useNote(job, log.data, isFollowing)
  if (hidden)
    return (
      <Panel title={t("jobs.log")}>
        <Empty small title={t("jobPages.log.hidden", { right: t(`rights.${hidden as "bodies"}`) })} next={t("jobPages.log.hiddenNext")} />
      </Panel>
    )
  return (
    <QueryPanel
      query={log}
      title={t("jobs.log")}
      note={note}
      actions={
        text && (
          <>
            {isActive(job) && !isFollowing && (
              <Button size="xs" leftSection={<IconArrowDown size={14} stroke={1.6} />} onClick={() => toEnd(list.current)}>
                {t("jobs.toNewest")}
              </Button>
            )}
            <CopyButton text={text} />
            <Tooltip label={t("jobs.logDownload")}>
              <ActionIcon aria-label={t("jobs.logDownload")} loading={!isWhole} onClick={() => saveFile(`${job.id}.log`, "text/plain", text)}>
                <IconDownload size={16} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          </>
        )
      }
      what={t("jobs.logFailed")}
      isEmpty={() => lines.length === 0}
      empty={<Empty small title={t("jobs.noLog")} next={isActive(job) ? t("jobs.noLogNext") : undefined} />}
    >
      {() => (
        <>
          <Cut job={job} text={text} lines={lines.length} />
          <div ref={list} className={classes.log} tabIndex={0} role="log" aria-label={t("jobs.log")} onScroll={({ currentTarget }) => setFollowing(isAtEnd(currentTarget))}>
            {lines.map((line) => (
              <p key={line.number} data-warning={line.isWarning || undefined}>
                <time>{line.at ? format.clock(line.at) : ""}</time>
                <span>{line.text}</span>
              </p>
            ))}
          </div>
        </>
      )}
    </QueryPanel>
  )
}

/** How far a long log is read, else whether the newest line stays in view. */
function useNote(job: Job, log: { next_offset: number; isWhole: boolean } | undefined, isFollowing: boolean): string | undefined {
  const { t } = useTranslation()
  if (log?.isWhole === false && job.log_bytes !== null) return t("jobPages.log.reading", { n: bytes(log.next_offset), all: bytes(job.log_bytes) })
  if (!isActive(job)) return undefined
  return isFollowing ? t("jobs.following") : t("jobs.notFollowing")
}

/** What of the log is not here: cut at its limit, or only in the download. */
function Cut({ job, text, lines }: { job: Job; text: string; lines: number }) {
  const { t } = useTranslation()
  const cut = useMemo(() => cutOf(text), [text])
  const all = useMemo(() => (lines < MOST_LINES ? lines : text.split("\n").filter(Boolean).length), [text, lines])
  const isFull = isActive(job) && (job.log_bytes ?? 0) >= LIMIT_BYTES
  return (
    <>
      {cut && <p className={classes.cut}>{t("jobPages.log.cut", { size: bytes(cut.bytes), mib: cut.mib })}</p>}
      {isFull && <p className={classes.cut}>{t("jobPages.log.full", { mib: LIMIT_BYTES >> 20 })}</p>}
      {all > lines && <p className={classes.cut}>{t("jobPages.log.shown", { n: count(lines), all: count(all) })}</p>}
    </>
  )
}
