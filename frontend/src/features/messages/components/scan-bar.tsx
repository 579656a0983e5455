import { Button } from "@mantine/core"
import { IconCircleCheckFilled, IconCircleHalf2, IconCircleMinus, IconDownload, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { toastFailed } from "@/components/toast/toast"
import { useFormat } from "@/hooks/use-format"
import { count } from "@/lib/format"
import { MOST_SAVED, saveLines } from "../save-lines"
import type { Scan, TopicScan } from "../use-scan"
import classes from "./messages.module.css"

/** What a search of contents has read and found so far, a way to stop it, and to save it. */
export function ScanBar({ cluster, wanted, scan }: { cluster: string; wanted: TopicScan; scan: Scan }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { scanned, end, rows } = scan
  const seconds = (scanned?.elapsed_ms ?? 0) / 1000
  const isDone = end?.end === "end" && end.complete
  const Icon = scan.isRunning ? IconPlayerPlay : !isDone ? IconCircleHalf2 : rows.length > 0 ? IconCircleCheckFilled : IconCircleMinus
  const color = scan.isRunning ? "var(--accent)" : !isDone ? "var(--warn)" : rows.length > 0 ? "var(--ok)" : "var(--ink-2)"
  return (
    <div className={classes.verdict} role="status">
      <div className={classes.verdictHead}>
        <Icon size={16} stroke={1.6} color={color} aria-hidden />
        <b>{t(isDone ? "find.matches" : "find.matchesSoFar", { count: rows.length, n: count(rows.length) })}</b>
        <Badge tone={scan.isRunning ? "accent" : isDone ? "ok" : "warn"}>{t(`find.phases.${phaseOf(scan)}`)}</Badge>
        <span className={classes.words}>
          {scanned && t("find.read", { n: count(scanned.read), rate: seconds > 0 ? count(Math.round(scanned.read / seconds)) : "—" })}
          {scanned?.reached && ` · ${t("find.reached", { at: format.when(scanned.reached) })}`}
          {Boolean(scanned?.damaged) && ` · ${t("find.damaged", { count: scanned?.damaged, n: count(scanned?.damaged ?? 0) })}`}
        </span>
        <span className={classes.scanActions}>
          {scan.isRunning && (
            <Button size="xs" leftSection={<IconPlayerStop size={14} stroke={1.6} />} onClick={scan.stop}>
              {t("find.stop", { n: count(rows.length) })}
            </Button>
          )}
          {scan.goOn && (
            <Button size="xs" onClick={scan.goOn}>
              {t("find.goOn")}
            </Button>
          )}
          {!scan.isRunning && rows.length > 0 && <SaveLines cluster={cluster} wanted={wanted} />}
        </span>
      </div>
    </div>
  )
}

function phaseOf({ isRunning, isStopped, error, end }: Scan): "reading" | "stopped" | "failed" | "end" | "limit" | "budget" | "missing" {
  if (isRunning) return "reading"
  if (isStopped) return "stopped"
  if (error || !end) return "failed"
  return end.end === "end" && !end.complete ? "missing" : end.end
}

/** Saves the matches with body and properties, as the server reads them again. */
function SaveLines({ cluster, wanted }: { cluster: string; wanted: TopicScan }) {
  const { t } = useTranslation()
  const [isBusy, setBusy] = useState(false)
  const save = () => {
    setBusy(true)
    saveLines(cluster, wanted)
      .catch((error: unknown) => toastFailed(t("find.notSaved"), error))
      .finally(() => setBusy(false))
  }
  return (
    <Button size="xs" variant="subtle" loading={isBusy} title={t("find.saveWords", { n: count(MOST_SAVED) })} leftSection={<IconDownload size={14} stroke={1.6} />} onClick={save}>
      {t("find.save")}
    </Button>
  )
}
