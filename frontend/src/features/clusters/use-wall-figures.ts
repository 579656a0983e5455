import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import type { AlertCounts, Overview } from "@/lib/api-types"
import { count, percent, rate } from "@/lib/format"
import { isGrowing, isPaused, outWord, withUnknown } from "@/lib/lag"
import { reasonIn } from "@/lib/reasons"

/** One figure of the wall; what is not known has no value but the reason as its fact. */
export interface WallFigure {
  label: string
  value: string | null
  fact: string
  tone?: "warn" | "crit" | undefined
}

type Known = Exclude<keyof NonNullable<Overview["last_known"]>, "at">
const FULL_DISK = 0.85

/** The eight figures; `alerts` is undefined while nobody knows how many fire. */
export function useWallFigures(overview: Overview, alerts: AlertCounts | undefined, now: number): WallFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { last_known: last, missing, brokers, brokers_answering: answering, lag_unknown_groups: unread } = overview
  const reason = overview.unknown_reason ?? missing[0]?.reason
  const why = reason ? reasonIn(t, reason) : t("states.unknown")
  const figureOf = (field: Known, label: string, write: (value: number) => string, fact: string, unknown = why): WallFigure => {
    const value = overview[field]
    if (value !== null) return { label, value: write(value), fact }
    const was = last?.[field] ?? null
    if (!last || was === null) return { label, value: null, fact: unknown }
    const before = t("wall.was", { value: write(was), age: format.duration(Math.max(1_000, now - Date.parse(last.at))) })
    return { label, value: null, fact: `${before} · ${unknown}` }
  }
  const unreadWords = unread > 0 ? t("wall.unreadGroups", { count: unread }) : ""
  const disks = brokers.map(({ name, disk_used_ratio: used }) => `${name} ${used === null ? "—" : percent(used)}`).join(" · ")
  const disk = figureOf("disk_used_ratio", t("overview.disk"), percent, disks)
  const dead = figureOf("dead_letters", t("overview.deadLetters"), count, "")
  const isBehind = overview.worst_groups.some((group) => isGrowing(group) || (group.state === "stalled" && !isPaused(group)))
  return [
    figureOf("in_rate", t("overview.in"), (value) => `${rate(value)}/s`, ""),
    figureOf("out_rate", t(outWord(overview)), (value) => `${rate(value)}/s`, ""),
    { ...figureOf("total_lag", t("overview.totalLag"), (lag) => withUnknown(count(lag), unread), unreadWords), tone: isBehind ? "warn" : undefined },
    oldest(),
    { ...dead, tone: overview.dead_letters ? "warn" : undefined },
    firing(),
    { ...disk, tone: (overview.disk_used_ratio ?? 0) > FULL_DISK ? "crit" : undefined },
    {
      label: t("wall.brokers"),
      value: brokers.length === 0 ? null : t("wall.ofBrokers", { n: answering, total: brokers.length }),
      fact: brokers.length === 0 ? why : "",
      tone: answering < brokers.length ? "crit" : undefined,
    },
  ]

  /** Nothing waits only where all was measured. */
  function oldest(): WallFigure {
    const { oldest_unconsumed_ms: age, total_lag: lag, groups_behind: behind, groups_timed: timed } = overview
    const label = t("overview.oldest")
    if (age === null && lag === 0 && unread === 0) return { label, value: t("overview.nothingWaits"), fact: "" }
    const isUntimed = behind !== null && timed !== null && timed < behind
    const untimed = isUntimed ? t("overview.timed", { n: count(timed), total: count(behind) }) : ""
    const facts = [overview.oldest_group ?? "", untimed].filter(Boolean).join(" · ")
    return figureOf("oldest_unconsumed_ms", label, format.duration, facts, untimed || unreadWords || why)
  }

  function firing(): WallFigure {
    const label = t("wall.firing")
    if (!alerts) return { label, value: null, fact: t("wall.alertsUnread") }
    const fact = alerts.no_data > 0 ? t("wall.noData", { count: alerts.no_data }) : t("wall.allClusters")
    return { label, value: count(alerts.firing), fact, tone: alerts.firing > 0 ? "crit" : alerts.no_data > 0 ? "warn" : undefined }
  }
}
