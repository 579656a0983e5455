import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"
import { checkOf, ENDS, exportOf, FIELDS, reconcileOf, replayOf } from "./request"
import { type Side, SIDES, sideField, type SideName } from "./sides"

type Known = Partial<JobRequest>

const joined = (values: readonly (string | number)[] | null | undefined, by = ","): string | undefined => (values?.length ? values.join(by) : undefined)
const digits = (value: number | null | undefined): string | undefined => (value ? String(value) : undefined)

/** The words of the address that describe a request: the inverse of what the wizards make of them. */
export function stateOf(request: JobRequest): UrlState {
  const { type, name, notify, limits, on_damage: damage, allow_live_target: live } = request
  const state = {
    name,
    notify: joined(notify?.channels),
    ends: notify && joined(ENDS.filter((end) => notify.on.includes(end))),
    minutes: digits(limits?.max_minutes),
    damage: damage === "stop" ? "stop" : undefined,
    live: live ? "1" : undefined,
    ...(type === "reconcile" ? comparisonIn(request) : { ...sourceIn(request), ...targetIn(request) }),
  }
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined && value !== ""))
}

function sourceIn({ source, format, columns }: Known): UrlState {
  const { topic, from, to, offsets, queues, keys, keys_file: keysfile, tag, where } = source ?? {}
  return {
    ...textIn({ topic, from, to, keysfile, tag, where }),
    ...(offsets && { bounds: "offsets", offsets: offsets.map(offsetLine).join("\n") }),
    queues: joined(queues, " "),
    keys: joined(keys, " "),
    format: format === "csv" ? undefined : format,
    cols: joined(columns),
  }
}

const textIn = (fields: Readonly<Record<string, string | null | undefined>>): UrlState => Object.fromEntries(Object.entries(fields).flatMap(([name, text]) => (text ? [[name, text]] : [])))

function offsetLine({ broker, queue, from, to }: NonNullable<NonNullable<JobRequest["source"]>["offsets"]>[number]): string {
  const range = from === undefined && to === undefined ? "" : `: ${from ?? ""} - ${to ?? ""}`
  return `${broker ? `${broker}/` : ""}${queue}${range}`
}

function targetIn({ target, limits }: Known): UrlState {
  const { kind, topic, cluster, transform, order, preserve } = target ?? {}
  const { body, tag, keys, properties = {} } = transform ?? {}
  return {
    tkind: kind === "parquet" ? "parquet" : undefined,
    target: topic,
    tcluster: cluster,
    torder: order === "key" ? "key" : undefined,
    preserve: joined(preserve),
    tbody: body,
    ttag: tag,
    tkeys: keys,
    tprops: joined(Object.entries(properties).map(([name, sql]) => `${name} = ${sql}`), "\n"),
    rate: digits(limits?.messages_per_second),
    max: digits(limits?.max_messages),
  }
}

const SIDE_FIELDS = ["kind", "topic", "group", "cluster", "path", "connection", "table", "query", "time", "where"] as const

function sideIn(side: Side | undefined, name: SideName): UrlState {
  return Object.fromEntries(SIDE_FIELDS.map((field) => [sideField(name, field), field === "kind" && side?.kind === "topic" ? undefined : side?.[field]]))
}

/** The range of the left side, and that of the right one where it is another. */
function rangesIn({ left, right }: Known): UrlState {
  const [range, other] = [left, right].map((side) => textIn({ from: side?.from, to: side?.to }))
  if (range?.from === other?.from && range?.to === other?.to) return range ?? {}
  return { ...range, rrange: "own", ...textIn({ rfrom: other?.from, rto: other?.to }) }
}

function comparisonIn({ left, right, by, check, compare, order, multiset, lateness_ms: lateness }: Known): UrlState {
  return {
    check,
    ...sideIn(left, "left"),
    ...sideIn(right, "right"),
    ...rangesIn({ ...(left && { left }), ...(right && { right }) }),
    ...(typeof by === "object" ? { by: "sql", bleft: by.left, bright: by.right } : { by: by === "key" ? undefined : by }),
    ...comparedIn(compare),
    order: order ? "1" : undefined,
    multiset: multiset === false ? "0" : undefined,
    late: lateness ? String(lateness / 1_000) : undefined,
  }
}

function comparedIn(compare: JobRequest["compare"]): UrlState {
  if (compare === undefined || compare === "body") return {}
  if (compare === "none") return { cmp: "none" }
  const names = compare.filter((field) => typeof field === "string")
  const lines = compare.flatMap((field) => {
    if (typeof field === "string") return []
    const { name, left, right, tolerance } = field
    return [`${name}: ${[left, ...(left === right && tolerance === undefined ? [] : [right]), ...(tolerance === undefined ? [] : [tolerance])].join(" | ")}`]
  })
  return { cmp: joined(names) ?? "none", values: joined(lines, "\n") }
}

/** The request that the form would send of an address. */
export const requestOf = (type: JobRequest["type"], state: UrlState, cluster: string): JobRequest => {
  if (type === "reconcile") return state.check === "store" ? checkOf(state, cluster) : reconcileOf(state, cluster)
  return type === "export" ? exportOf(state, cluster) : replayOf(state, cluster)
}

/** What the API takes a field for that is absent, by path. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  on_damage: "skip",
  dry_run: false,
  allow_live_target: false,
  order: false,
  multiset: true,
  lateness_ms: 0,
  by: "key",
  format: "csv",
  "compare.0": "body",
  "target.kind": "topic",
  "target.order": "queue",
  "left.kind": "topic",
  "right.kind": "topic",
}

/** The values of a request by their paths, without those that say no more than an absent field. */
function valuesOf(request: JobRequest): Map<string, unknown> {
  const { compare, target, cluster = "local" } = request
  const isWord = (field: unknown): field is string => typeof field === "string"
  const compared = Array.isArray(compare) ? [...FIELDS.filter((field) => compare.includes(field)), ...compare.filter((field) => !isWord(field))] : compare && [compare]
  const whole = { ...request, cluster, ...(compared && { compare: compared }), ...(target?.preserve && { target: { ...target, preserve: target.preserve.toSorted() } }) }
  const found = new Map<string, unknown>(leavesOf(whole))
  for (const [path, value] of Object.entries(DEFAULTS)) if (found.get(path) === value && !(path === "compare.0" && found.has("compare.1"))) found.delete(path)
  for (const part of ["target", ...SIDES]) if (found.get(`${part}.cluster`) === cluster) found.delete(`${part}.cluster`)
  return found
}

function leavesOf(value: unknown, path = ""): [string, unknown][] {
  if (value === null || value === undefined || value === "") return []
  if (typeof value !== "object") return [[path, value]]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path ? `${path}.${name}` : name))
}

/** The paths at which two requests ask for something else; a list counts as one field. */
export function differingFields(one: JobRequest, other: JobRequest): string[] {
  const [values, others] = [valuesOf(one), valuesOf(other)]
  const paths = [...values.keys(), ...others.keys()].filter((path) => values.get(path) !== others.get(path))
  return [...new Set(paths.map((path) => path.replace(/\.\d+(\..*)?$/, "")))]
}

const TYPES = ["replay", "reconcile", "export"]

/** The form of a stored request, and the fields that it could not send back as they are. */
export function formOf(request: JobRequest): { state: UrlState; lost: string[] } {
  if (!TYPES.includes(request.type)) return { state: {}, lost: ["type"] }
  const state = stateOf(request)
  return { state, lost: differingFields(request, requestOf(request.type, state, request.cluster ?? "local")) }
}
