import { useMemo, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { ActionIcon, Button, Tooltip } from "@mantine/core"
import { IconArrowUp, IconDownload } from "@tabler/icons-react"
import { CopyButton } from "@/components/code/copy-button"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { saveFile } from "@/lib/save-file"
import { useJobLog } from "../api/get-job-log"
import { linesOf } from "../log"
import { isActive } from "../progress"
import classes from "./jobs.module.css"

const FOLLOW_PX = 8

/** The log, newest first; warnings stand out. */
export function JobLogPanel({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const log = useJobLog(job)
  const text = log.data?.text ?? ""
  const lines = useMemo(() => linesOf(text), [text])
  const list = useRef<HTMLDivElement>(null)
  // The newest line stands on top: who scrolled down reads on undisturbed.
  const [isFollowing, setFollowing] = useState(true)
  const note = !isActive(job) ? undefined : isFollowing ? t("jobs.following") : t("jobs.notFollowing")
  return (
    <QueryPanel
      query={log}
      title={t("jobs.log")}
      note={note}
      actions={
        text && (
          <>
            {isActive(job) && !isFollowing && (
              <Button size="xs" leftSection={<IconArrowUp size={14} stroke={1.6} />} onClick={() => list.current?.scrollTo({ top: 0 })}>
                {t("jobs.toNewest")}
              </Button>
            )}
            <CopyButton text={text} />
            <Tooltip label={t("jobs.logDownload")}>
              <ActionIcon aria-label={t("jobs.logDownload")} onClick={() => saveFile(`${job.id}.log`, "text/plain", text)}>
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
        <div ref={list} className={classes.log} tabIndex={0} role="log" aria-label={t("jobs.log")} onScroll={({ currentTarget }) => setFollowing(currentTarget.scrollTop < FOLLOW_PX)}>
          {lines.map((line, index) => (
            <p key={lines.length - index} data-warning={line.isWarning || undefined}>
              <time>{line.at ? format.clock(line.at) : ""}</time>
              <span>{line.text}</span>
            </p>
          ))}
        </div>
      )}
    </QueryPanel>
  )
}
