import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"

export type Side = NonNullable<JobRequest["left"]>
export type SideName = "left" | "right"
export type SideKind = NonNullable<Side["kind"]>

export const SIDES = ["left", "right"] as const
export const SIDE_KINDS = ["topic", "group", "parquet", "csv", "postgresql"] as const

type SideField = "kind" | "topic" | "group" | "cluster" | "path" | "connection" | "table" | "query" | "time" | "where"

/** The words of the address for the fields of each side. */
const NAMES: Record<SideName, Record<SideField, string>> = {
  left: { kind: "lkind", topic: "left", group: "lgroup", cluster: "lcluster", path: "lpath", connection: "lconn", table: "ltable", query: "lquery", time: "ltime", where: "lwhere" },
  right: { kind: "rkind", topic: "right", group: "rgroup", cluster: "rcluster", path: "rpath", connection: "rconn", table: "rtable", query: "rquery", time: "rtime", where: "rwhere" },
}

export const sideField = (side: SideName, field: SideField): string => NAMES[side][field]

/** Of each kind the fields that it has beside range and condition; the first ones it needs. */
const FIELDS: Record<SideKind, readonly SideField[]> = {
  topic: ["topic", "cluster"],
  group: ["topic", "group", "cluster"],
  parquet: ["path", "time"],
  csv: ["path", "time"],
  postgresql: ["connection", "table", "query", "time"],
}

export const kindOfSide = (state: UrlState, side: SideName): SideKind => SIDE_KINDS.find((kind) => kind === state[NAMES[side].kind]) ?? "topic"

/** Whether the rows of a side are messages: only they have keys, bodies and the other fields by name. */
export const hasMessages = ({ kind = "topic" }: Side): boolean => kind === "topic" || kind === "group"

/** Whether every message of both sides can be named by words instead of SQL. */
export const isByWords = (state: UrlState): boolean => SIDES.every((side) => hasMessages({ kind: kindOfSide(state, side) }))

/** Whether the right side is read over a range of its own, instead of that of the left one. */
export const hasOwnRange = ({ rrange, rfrom, rto }: UrlState): boolean => rrange === "own" || Boolean(rfrom ?? rto)

/** A side as the address describes it; fields of another kind are kept there, and left out here. */
export function sideOf(state: UrlState, side: SideName, cluster: string): Side {
  const names = NAMES[side]
  const kind = kindOfSide(state, side)
  const value = (field: SideField) => state[names[field]]?.trim()
  const [from, to] = side === "right" && hasOwnRange(state) ? [state.rfrom, state.rto] : [state.from, state.to]
  const found = FIELDS[kind].flatMap((field) => {
    const given = value(field)
    // A query stands instead of a table, and the cluster of the job is no other one.
    if (!given || (field === "table" && value("query")) || (field === "cluster" && given === cluster)) return []
    return [[field, given] as const]
  })
  return {
    ...(kind === "topic" ? { topic: "" } : { kind }),
    ...(Object.fromEntries(found) as Side),
    ...(from && { from }),
    ...(to && { to }),
    ...(value("where") && { where: value("where") }),
  }
}

/** Whether a side names all that its kind needs. */
export function isSideWhole(side: Side | undefined): boolean {
  if (!side) return false
  if (hasMessages(side)) return Boolean(side.topic) && (side.kind !== "group" || Boolean(side.group))
  if (side.kind === "postgresql") return Boolean(side.connection && (side.table ?? side.query))
  return Boolean(side.path)
}

/** Whether both sides are the very same messages. */
export const areSame = (one: Side | undefined, other: Side | undefined): boolean =>
  Boolean(one?.topic) && ["kind", "topic", "group", "cluster"].every((field) => one?.[field as "topic"] === other?.[field as "topic"])

/** What a side is called in the name of a job. */
export function titleOfSide(side: Side | undefined): string {
  switch (side?.kind ?? "topic") {
    case "topic":
      return side?.topic ?? ""
    case "group":
      return `${side?.topic ?? ""} (${side?.group ?? ""})`
    case "postgresql":
      return [side?.connection, side?.table].filter(Boolean).join(".")
    default:
      return side?.path ?? ""
  }
}

/** Whether a range is asked of rows whose time is in no column that is named. */
export const isTimeMissing = (state: UrlState, side: SideName): boolean => {
  const { kind, from, to, time } = sideOf(state, side, "")
  return !hasMessages({ ...(kind && { kind }) }) && Boolean(from ?? to) && !time
}
