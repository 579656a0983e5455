import { IconTrendingUp } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { GroupState } from "@/components/badges/group-state"
import { columnsFor } from "@/components/data-table/columns"
import { LagRail } from "@/components/rail/rail"
import { NotApplicable, Num } from "@/components/values/num"
import { Duration } from "@/components/values/time"
import type { GroupSummary } from "@/lib/api-types"
import { rate } from "@/lib/format"
import classes from "./groups.module.css"

const column = columnsFor<GroupSummary>()

export const railTone = ({ state }: Pick<GroupSummary, "state">) => (state === "growing" ? "growing" : "normal")

/** The columns of a list of groups; all rails share `scale`. */
export const groupColumns = (t: TFunction, scale: number) => [
  column("name", t("groups.name"), { isName: true, sort: "name", isFixed: true }, ({ name }) => (
    <Link to="/groups/$group" params={{ group: name }} title={name}>
      {name}
    </Link>
  )),
  column("state", t("groups.state"), { minWidth: 520 }, ({ state }) => <GroupState state={state} />),
  column("mode", t("groups.mode"), { isSecondary: true, minWidth: 1060 }, ({ mode }) => (mode ? t(`groups.modes.${mode}`) : <NotApplicable />)),
  column("clients", t("groups.clients"), { align: "end", sort: "clients", minWidth: 700 }, ({ clients }) => <Num value={clients} />),
  column("topics", t("groups.topics"), { isSecondary: true, minWidth: 820 }, ({ topics }) => <Topics topics={topics} />),
  column("lag", t("groups.lag"), { align: "end", sort: "lag", isStrong: true, isFixed: true }, (group) => <Lag group={group} />),
  column("rail", t("groups.rail"), { width: 132, minWidth: 980, ends: [t("lag.consumed"), t("lag.head")] }, (group) => (
    <LagRail lag={group.lag} scale={scale} tone={railTone(group)} />
  )),
  column("time_lag_ms", t("groups.timeLag"), { align: "end", sort: "time_lag_ms", minWidth: 420 }, (group) => (
    <Duration ms={group.time_lag_ms} />
  )),
  column("in_rate", t("groups.in"), { align: "end", sort: "in_rate", isSecondary: true, minWidth: 900 }, (group) => (
    <Num value={group.in_rate} write={rate} reason={group.unknown_reason} />
  )),
  column("out_rate", t("groups.out"), { align: "end", sort: "out_rate", minWidth: 620 }, (group) => (
    <Num value={group.out_rate} write={rate} reason={group.unknown_reason} />
  )),
  column("drain", t("groups.drain"), { align: "end", isSecondary: true, minWidth: 1000 }, (group) => (
    <Duration ms={group.lag === 0 ? null : group.drain_eta_ms} />
  )),
  column("leases", t("groups.leases"), { align: "end", isSecondary: true, minWidth: 1120 }, ({ leases }) =>
    leases === null ? <NotApplicable /> : <Num value={leases} />,
  ),
]

function Lag({ group }: { group: GroupSummary }) {
  if (group.lag === null) return <Num value={null} reason={group.unknown_reason} />
  if (group.state !== "growing") return <Num value={group.lag} />
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
