import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CopyButton } from "@/components/code/copy-button"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { useJobLog } from "../api/get-job-log"
import { linesOf } from "../log"
import { isActive } from "../progress"
import classes from "./jobs.module.css"

/** The log, newest first; warnings stand out. */
export function JobLogPanel({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const log = useJobLog(job)
  const text = log.data?.text ?? ""
  const lines = useMemo(() => linesOf(text), [text])
  return (
    <QueryPanel
      query={log}
      title={t("jobs.log")}
      note={isActive(job) ? t("jobs.following") : undefined}
      actions={text && <CopyButton text={text} />}
      what={t("jobs.logFailed")}
      isEmpty={() => lines.length === 0}
      empty={<Empty small title={t("jobs.noLog")} next={isActive(job) ? t("jobs.noLogNext") : undefined} />}
    >
      {() => (
        <div className={classes.log} tabIndex={0} role="log" aria-label={t("jobs.log")}>
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
