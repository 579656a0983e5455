import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { LastKnown } from "@/components/values/last-known"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { usePhone } from "@/hooks/use-media"
import type { Overview } from "@/lib/api-types"
import { count, percentNumber, rate, signed } from "@/lib/format"
import { isGrowing, outWord, upWord, withUnknown } from "@/lib/lag"

/** The strip: what the cluster does, in seven numbers; what is not known says so, and what it was. */
export function OverviewFigures({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const figureOf = useFigure(overview)
  const lag = useLagFigures(overview)
  const machine = useMachineFigures(overview)
  const rates: KeyFigure[] = [
    figureOf("in_rate", t("overview.in"), rate, overview.topics === null ? "" : t("overview.topics", { count: overview.topics }), "/s"),
    figureOf("out_rate", t(outWord(overview)), rate, t(overview.limited ? "overview.allConsumed" : "overview.allGroups"), "/s"),
  ]
  const deadGroups = overview.dead_letter_groups
  const rest: KeyFigure[] = [
    figureOf("dead_letters", t("overview.deadLetters"), count, deadGroups ? t("overview.groups", { count: deadGroups }) : t("overview.noGroup")),
    ...machine,
  ]
  // On a phone one reads lag; what came in and out is further down.
  const figures = usePhone() ? [...lag, ...rates, ...rest] : [...rates, ...lag, ...rest]
  return <TitleBlock figures={figures} />
}

type Known = Exclude<keyof NonNullable<Overview["last_known"]>, "at">

/** Writes a figure with its fact; one that is not known has no fact but its last value and why it is unknown. */
function useFigure(overview: Overview) {
  const { t } = useTranslation()
  const { last_known: last, unknown_reason: reason, missing } = overview
  return (field: Known, label: string, write: (value: number) => string, fact: string, unit?: string): KeyFigure => {
    const value = overview[field]
    if (value !== null) return { label, value: write(value), unit, fact }
    const was = last?.[field] ?? null
    const known = was === null ? undefined : `${write(was)}${unit ?? ""}`
    return { label, value: <LastKnown at={last?.at} reason={reason ?? missing[0]?.reason}>{known}</LastKnown>, fact: t(known === undefined ? "states.unknown" : "overview.lastKnown") }
  }
}

function useLagFigures(overview: Overview): KeyFigure[] {
  const { t } = useTranslation()
  const figureOf = useFigure(overview)
  const growing = overview.worst_groups.filter(isGrowing)
  const growth = overview.lag_per_second
  const unknown = overview.lag_unknown_groups
  const tone = growing.length > 0 ? ("warn" as const) : undefined
  const facts = [
    growth !== null && overview.total_lag ? t("groups.growth", { n: signed(growth) }) : growing.length > 0 ? t("overview.growing", { count: growing.length }) : "",
    unknown > 0 ? t("overview.unknownGroups", { count: unknown }) : "",
  ].filter(Boolean)
  const total = figureOf("total_lag", t("overview.totalLag"), (lag) => withUnknown(count(lag), overview.total_lag === null ? 0 : unknown), facts.join(t("list.comma")) || t("overview.messages"))
  return [{ ...total, tone }, { ...useOldest(overview), tone }]
}

/** Nothing waits only where that was measured; groups that are behind and were not timed yet make it unknown. */
function useOldest(overview: Overview): KeyFigure {
  const { t } = useTranslation()
  const format = useFormat()
  const figureOf = useFigure(overview)
  const label = t("overview.oldest")
  const { oldest_unconsumed_ms: oldest, total_lag: lag, groups_behind: behind, groups_timed: timed } = overview
  if (oldest === null && lag === 0) return { label, value: "—", fact: t("overview.nothingWaits") }
  const figure = figureOf("oldest_unconsumed_ms", label, format.duration, overview.oldest_group ?? "")
  if (oldest !== null || !behind || timed === null || timed >= behind) return figure
  return { ...figure, fact: t("overview.timed", { n: count(timed), total: count(behind) }) }
}

const DAY_WORDS_FROM = 1

function useMachineFigures(overview: Overview): KeyFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const figureOf = useFigure(overview)
  const { disk_used_ratio: disk, disk_days_to_full: days, uptime_ms: uptime, brokers, brokers_answering: answering } = overview
  const forecast = days === null ? t("overview.noForecast") : days < DAY_WORDS_FROM ? t("overview.fullSoon") : t("overview.fullIn", { count: Math.round(days) })
  return [
    { ...figureOf("disk_used_ratio", t("overview.disk"), percentNumber, forecast, "%"), tone: disk !== null && disk > 0.85 ? "crit" : undefined },
    {
      label: t(upWord(overview)),
      value: uptime === null ? <Unknown reason={overview.unknown_reason} /> : format.duration(uptime),
      fact: brokers.length === 0 ? t(overview.name_server_reason ?? overview.unknown_reason ? "states.unknown" : "overview.noBroker") : t("overview.answering", { n: answering, count: brokers.length }),
      tone: answering < brokers.length ? "crit" : undefined,
    },
  ]
}
