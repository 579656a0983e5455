import { Button } from "@mantine/core"
import { type Icon, IconCircleCheckFilled, IconCircleHalf2, IconCircleMinus, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge, type Tone } from "@/components/badges/badge"
import { useFormat } from "@/hooks/use-format"
import type { Scanned } from "@/lib/api-types"
import { count } from "@/lib/format"
import type { Scan } from "../use-scan"
import classes from "./messages.module.css"

/** What a search of contents has read and found so far, and a way to stop it. */
export function ScanBar({ scan }: { scan: Scan }) {
  const { t } = useTranslation()
  const { end, rows } = scan
  const isDone = end?.end === "end" && end.complete
  const look = lookOf(scan, isDone)
  const Icon = look.icon
  return (
    <div className={classes.verdict} role="status">
      <div className={classes.verdictHead}>
        <Icon size={16} stroke={1.6} color={look.color} aria-hidden />
        <b>{t(isDone ? "find.matches" : "find.matchesSoFar", { count: rows.length, n: count(rows.length) })}</b>
        <Badge tone={look.tone}>{t(`find.phases.${phaseOf(scan)}`)}</Badge>
        {scan.scanned && <Read scanned={scan.scanned} />}
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
        </span>
      </div>
    </div>
  )
}

/** How much was read, how fast, and how far back. */
function Read({ scanned: { read, reached, damaged, elapsed_ms: ms } }: { scanned: Scanned }) {
  const { t } = useTranslation()
  const format = useFormat()
  const words = [t("find.read", { n: count(read), rate: ms > 0 ? count(Math.round((read * 1000) / ms)) : "—" })]
  if (reached) words.push(t("find.reached", { at: format.when(reached) }))
  if (damaged > 0) words.push(t("find.damaged", { count: damaged, n: count(damaged) }))
  return <span className={classes.words}>{words.join(" · ")}</span>
}

interface Look {
  icon: Icon
  color: string
  tone: Tone
}

function lookOf({ isRunning, rows }: Scan, isDone: boolean): Look {
  if (isRunning) return { icon: IconPlayerPlay, color: "var(--accent)", tone: "accent" }
  if (!isDone) return { icon: IconCircleHalf2, color: "var(--warn)", tone: "warn" }
  return rows.length > 0 ? { icon: IconCircleCheckFilled, color: "var(--ok)", tone: "ok" } : { icon: IconCircleMinus, color: "var(--ink-2)", tone: "ok" }
}

function phaseOf({ isRunning, isStopped, error, end }: Scan): "reading" | "stopped" | "failed" | "end" | "limit" | "budget" | "missing" {
  if (isRunning) return "reading"
  if (isStopped) return "stopped"
  if (error || !end) return "failed"
  return end.end === "end" && !end.complete ? "missing" : end.end
}
