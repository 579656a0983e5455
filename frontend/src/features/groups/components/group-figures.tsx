import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { LastKnown } from "@/components/values/last-known"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { usePhone } from "@/hooks/use-media"
import type { Group, GroupQueue } from "@/lib/api-types"
import { count, rate, signed } from "@/lib/format"
import { isPaused, lagGrowth, withUnknown } from "@/lib/lag"
import { useAbility } from "@/hooks/use-ability"
import { useCluster } from "@/hooks/use-cluster"
import { reasonIn } from "@/lib/reasons"

/** The queue whose oldest message waits longest. */
function slowest(queues: readonly GroupQueue[]): GroupQueue | undefined {
  return queues.reduce<GroupQueue | undefined>(
    (worst, queue) => ((queue.time_lag_ms ?? -1) > (worst?.time_lag_ms ?? 0) ? queue : worst),
    undefined,
  )
}

/** The strip of a group; what is not known says so, and what it was. */
export function GroupFigures({ group }: { group: Group }) {
  const { t } = useTranslation()
  const lag = useLagFigures(group)
  const drain = useDrainFigure(group)
  const figureOf = useFigure(group)
  const readers = useReaders(group)
  const isPhone = usePhone()
  const lease = useAbility(useCluster(), "lease")
  const unleased = lease.isLacking ? t("abilities.lacks", { ability: t("abilities.things.lease") }) : group.unknown_reason
  if (isPhone) return <TitleBlock figures={[...lag, { label: t("groups.inOut"), value: inOut(group), unit: "/s" }, drain]} />
  const figures: KeyFigure[] = [
    ...lag,
    figureOf("in_rate", t("groups.inFull"), rate, group.topics.join(t("list.comma")), "/s"),
    figureOf("out_rate", t("groups.outFull"), rate, readers, "/s"),
    drain,
    {
      label: t("groups.inFlight"),
      value: group.leases === null ? <Unknown reason={unleased} /> : count(group.leases),
      fact: group.leases === null ? (lease.isLacking && unleased) || t("states.unknown") : t("groups.leasesWords"),
    },
  ]
  return <TitleBlock figures={figures} />
}

type Known = Exclude<keyof NonNullable<Group["last_known"]>, "at">

function useFigure({ last_known: last, unknown_reason: reason, ...group }: Group) {
  const { t } = useTranslation()
  return (field: Known, label: string, write: (value: number) => string, fact: string, unit?: string): KeyFigure => {
    const value = group[field]
    if (value !== null) return { label, value: write(value), unit, fact }
    const was = last?.[field] ?? null
    const shown = (
      <LastKnown at={last?.at} reason={reason}>
        {was === null ? undefined : `${write(was)}${unit ?? ""}`}
      </LastKnown>
    )
    return { label, value: shown, fact: was !== null ? t("overview.lastKnown") : reason ? reasonIn(t, reason) : t("states.unknown") }
  }
}

/** Who consumes: native clients, and callers that lease over HTTP; nothing while it is unknown. */
function useReaders({ clients, lease_consumers: consumers }: Group): string {
  const { t } = useTranslation()
  const callers = consumers?.length ?? 0
  if (clients === null) return ""
  if (callers === 0) return t("groups.byClients", { count: clients })
  if (clients === 0) return t("groups.byCallers", { count: callers })
  return t("groups.byBoth", { clients: t("groups.byClients", { count: clients }), callers })
}

const inOut = ({ in_rate: inRate, out_rate: outRate }: Group): string =>
  [inRate, outRate].map((value) => (value === null ? "—" : rate(value))).join(" / ")

function useLagFigures(group: Group): KeyFigure[] {
  const { t } = useTranslation()
  const figureOf = useFigure(group)
  const unknown = group.queues.filter(({ lag }) => lag === null).length
  const growth = lagGrowth(group)
  const isTrouble = group.state === "growing" || group.state === "stalled" || group.state === "inconsistent"
  const tone = isTrouble && !isPaused(group) ? ("warn" as const) : undefined
  // The words of the state are those of its badge; a number stands only beside a state that it agrees with.
  const state = isPaused(group) ? t("groupWords.paused") : t(`groupWords.${group.state}`)
  const word = group.state === "growing" && growth !== null ? t("groups.growth", { n: signed(growth) }) : state
  const fact = unknown > 0 ? t("groups.unknownQueues", { count: unknown }) : word
  // What was once known was whole: only a sum of now lacks parts.
  const lag = figureOf("lag", t("groups.lag"), (value) => withUnknown(count(value), group.lag === null ? 0 : unknown), fact)
  return [{ ...lag, tone }, { ...useTimeLag(group), tone }]
}

function useTimeLag(group: Group): KeyFigure {
  const { t } = useTranslation()
  const format = useFormat()
  const figureOf = useFigure(group)
  const label = t("groups.timeLag")
  if (group.lag === 0) return { label, value: "—", fact: t(group.state === "idle" ? "groupWords.idle" : "groupWords.caught_up") }
  const worst = slowest(group.queues)
  const isOfMany = new Set(group.queues.map(({ broker }) => broker)).size > 1
  const place = worst ? [isOfMany && worst.broker, t("groups.atQueue", { queue: worst.queue_id }), worst.client].filter(Boolean).join(t("list.comma")) : ""
  const figure = figureOf("time_lag_ms", label, format.duration, place)
  return group.lag !== null && group.time_lag_ms === null ? { ...figure, fact: t("groups.notTimed") } : figure
}

function useDrainFigure({ drain_eta_ms: eta, drain_unknown: why, lag, state, delivery, unknown_reason: reason }: Group): KeyFigure {
  const { t } = useTranslation()
  const format = useFormat()
  const label = t("groups.drainFull")
  if (lag === null) return { label, value: <Unknown reason={reason} />, fact: t("states.unknown") }
  if (lag === 0) return { label, value: "—", fact: t(state === "idle" ? "groupWords.idle" : "groups.nothingToDrain") }
  if (eta !== null) return { label, value: format.duration(eta), fact: t("groups.atThisRate") }
  if (isPaused({ delivery })) return { label, value: "—", fact: t("groupWords.paused") }
  if (state === "stalled") return { label, value: "—", fact: t("groupWords.stalled") }
  return { label, value: "—", fact: t(`groupFigures.noDrain.${why ?? "rates_unknown"}`) }
}
