import { Checkbox, Tooltip } from "@mantine/core"
import { IconTrendingUp } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { columnsFor } from "@/components/data-table/columns"
import { PinStar } from "@/components/data-table/pin-star"
import { LagRail } from "@/components/rail/rail"
import { LastKnown, MeasuredAge } from "@/components/values/last-known"
import { NotApplicable, Num, Unknown } from "@/components/values/num"
import { Duration } from "@/components/values/time"
import type { GroupSummary } from "@/lib/api-types"
import { count, rate } from "@/lib/format"
import { isGrowing } from "@/lib/lag"
import { pinnedGroups } from "@/lib/preferences"
import classes from "./groups.module.css"

const column = columnsFor<GroupSummary>()

/** All who consume: native clients, and callers that lease over HTTP. */
export const readersOf = ({ clients, lease_consumers: callers }: Pick<GroupSummary, "clients" | "lease_consumers">): number | null =>
  clients === null ? null : clients + (callers?.length ?? 0)

export const railTone = (group: Pick<GroupSummary, "state" | "delivery">) => (isGrowing(group) ? "growing" : "normal")

/** Ticks for a change of many groups. */
export const chooseColumn = (t: TFunction, chosen: ReadonlySet<string>, onChoose: (names: readonly string[]) => void) =>
  column("chosen", "", { width: 20, isFixed: true, minWidth: 560 }, ({ name }) => (
    <Checkbox
      size="xs"
      aria-label={t("groupBulk.choose", { group: name })}
      checked={chosen.has(name)}
      onChange={(event) => onChoose(event.currentTarget.checked ? [...chosen, name] : [...chosen].filter((other) => other !== name))}
    />
  ))

/** The star that puts a group first. */
export const pinColumn = (t: TFunction) =>
  column("star", "", { width: 20, isFixed: true, minWidth: 560 }, ({ name }) => (
    <PinStar name={name} pins={pinnedGroups} label={t("groups.pin", { group: name })} />
  ))

/** The columns of a list of groups; all rails share `scale`, and `noLeases` says why none can be counted. */
export const groupColumns = (t: TFunction, scale: number, noLeases: string | null = null) => [
  column("name", t("groups.name"), { isName: true, sort: "name", isFixed: true }, ({ name }) => (
    <Link to="/groups/$group" params={{ group: name }} title={name}>
      {name}
    </Link>
  )),
  column("state", t("groups.state"), { minWidth: 520 }, (group) => <GroupState group={group} />),
  column("mode", t("groups.mode"), { isSecondary: true, minWidth: 1060 }, ({ mode }) => (mode ? t(`groups.modes.${mode}`) : <NotApplicable />)),
  column("clients", t("groups.clients"), { align: "end", sort: "clients", minWidth: 700 }, (group) => <Num value={readersOf(group)} reason={group.unknown_reason} />),
  column("topics", t("groups.topics"), { isSecondary: true, minWidth: 820 }, ({ topics }) => <Topics topics={topics} />),
  column("lag", t("groups.lag"), { align: "end", sort: "lag", isStrong: true, isFixed: true }, (group) => <Lag group={group} />),
  column("rail", t("groups.rail"), { width: 132, minWidth: 980, ends: [t("lag.consumed"), t("lag.head")] }, (group) => (
    <LagRail lag={group.lag} scale={scale} tone={railTone(group)} />
  )),
  column("time_lag_ms", t("groups.timeLag"), { align: "end", sort: "time_lag_ms", minWidth: 420 }, (group) => (
    <TimeLag group={group} />
  )),
  column("in_rate", t("groups.in"), { align: "end", sort: "in_rate", isSecondary: true, minWidth: 900 }, (group) => (
    <Figure group={group} field="in_rate" write={rate} />
  )),
  column("out_rate", t("groups.out"), { align: "end", sort: "out_rate", minWidth: 620 }, (group) => (
    <Figure group={group} field="out_rate" write={rate} />
  )),
  column("drain", t("groups.drain"), { align: "end", isSecondary: true, minWidth: 1000 }, (group) => <Drain group={group} />),
  column("dead_letters", t("groupFigures.deadLetters"), { align: "end", sort: "dead_letters", isSecondary: true, minWidth: 940 }, (group) => (
    <DeadLetters group={group} />
  )),
  column("leases", t("groups.inFlight"), { align: "end", isSecondary: true, minWidth: 1120 }, ({ leases, unknown_reason: reason }) => (
    <Num value={leases} reason={noLeases ?? reason} />
  )),
]

interface FigureProps {
  group: GroupSummary
  field: "lag" | "in_rate" | "out_rate"
  write?: (value: number) => string
}

/** A figure, or what it was while it is not known. */
function Figure({ group: { last_known: last, unknown_reason: reason, ...group }, field, write = count }: FigureProps) {
  const was = last?.[field] ?? null
  if (group[field] !== null) return <Num value={group[field]} write={write} />
  return (
    <LastKnown at={last?.at} reason={reason}>
      {was === null ? undefined : write(was)}
    </LastKnown>
  )
}

/** None where nothing waits; where something waits and was not timed it is unknown. */
export function TimeLag({ group: { lag, time_lag_ms: ms, unknown_reason: reason } }: { group: GroupSummary }) {
  if (ms !== null) return <Duration ms={ms} />
  return lag === 0 ? <NotApplicable /> : <Unknown reason={reason} />
}

/** How long until nothing waits; where that is not known, why. */
function Drain({ group: { lag, drain_eta_ms: ms, drain_unknown: why, unknown_reason: reason } }: { group: GroupSummary }) {
  const { t } = useTranslation()
  if (lag === null) return <Unknown reason={reason} />
  if (lag === 0) return <NotApplicable />
  if (ms !== null) return <Duration ms={ms} />
  const words = t(`groupFigures.noDrain.${why ?? "rates_unknown"}`)
  if (why === "rates_unknown" || !why) return <Unknown reason={words} />
  return (
    <Tooltip label={words}>
      <span tabIndex={0} role="img" aria-label={words}>
        <NotApplicable />
      </span>
    </Tooltip>
  )
}

function DeadLetters({ group: { name, dead_letters: n, missing } }: { group: GroupSummary }) {
  if (n === null || n === 0) return <Num value={n} reason={missing[0]?.reason} />
  return (
    <Link to="/groups/$group" params={{ group: name }} search={{ tab: "dead-letters" }}>
      {count(n)}
    </Link>
  )
}

export function Lag({ group }: { group: GroupSummary }) {
  if (!isGrowing(group))
    return (
      <>
        <Figure group={group} field="lag" />
        <MeasuredAge at={group.measured_at} />
      </>
    )
  return (
    <span className={classes.growing}>
      <IconTrendingUp size={13} stroke={1.6} aria-hidden />
      <Num value={group.lag} />
    </span>
  )
}

function Topics({ topics }: { topics: string[] }) {
  const [first, ...others] = topics
  if (first === undefined) return <NotApplicable />
  return (
    <span title={topics.join("\n")}>
      <Link to="/topics/$topic" params={{ topic: first }} className={classes.topic}>
        {first}
      </Link>
      {others.length > 0 && ` +${others.length}`}
    </span>
  )
}
