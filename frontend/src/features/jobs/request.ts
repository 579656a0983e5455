import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"
import { MOST_MINUTES } from "@/lib/job-limits"
import { isInstant } from "@/lib/time"
import { areSame, isByWords, isSideWhole, isTimeMissing, SIDES, sideField, sideOf } from "./sides"
import { kindOf, LONGEST, MS, SCHEDULED_AT, spanOf } from "./bounds"

type Transform = NonNullable<NonNullable<JobRequest["target"]>["transform"]>
type Source = NonNullable<JobRequest["source"]>
type TopicRange = Pick<Source, "topic" | "from" | "to">
type OffsetRange = NonNullable<Source["offsets"]>[number]

export type ReplayRequest = JobRequest & Required<Pick<JobRequest, "source" | "target">>
export type ReconcileRequest = JobRequest & Required<Pick<JobRequest, "left" | "right">>
export type ExportRequest = JobRequest & Required<Pick<JobRequest, "source" | "format">>

const words = (text: string | undefined) => text?.split(/[\s,]+/).filter(Boolean) ?? []

const rangeOf = (topic: string | undefined, from: string | undefined, to: string | undefined): TopicRange => ({
  topic: topic ?? "",
  ...(from && { from }),
  ...(to && { to }),
})

/** The ends of a job that alert channels can be told of. */
export const ENDS = ["failed", "partial", "succeeded"] as const

/** The ends in the address: without a word those that somebody should look at. */
export const endsIn = ({ ends }: UrlState) => (ends === undefined ? ENDS.slice(0, 2) : ENDS.filter((end) => ends.split(",").includes(end)))

/** What every kind of job has beside its type. */
const commonOf = (state: UrlState, cluster: string) => ({
  ...(state.name && { name: state.name }),
  cluster,
  ...(state.notify && { notify: { channels: state.notify.split(","), on: endsIn(state) } }),
})

/** What is no number goes as it was typed: to leave it out would ask for more than was meant. */
const numberIn = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : (text as unknown as number))

const BY = ["key", "unique_id", "body", "source"] as const

const TRANSFORMED = { body: "tbody", tag: "ttag", keys: "tkeys" } as const

/** What copies get instead: SQL by field, and properties as lines "name = SQL". */
function transformOf(state: UrlState): Transform | undefined {
  const properties = propertiesIn(state.tprops)
  const found = {
    ...Object.fromEntries(Object.entries(TRANSFORMED).flatMap(([field, name]) => (state[name]?.trim() ? [[field, state[name].trim()]] : []))),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  }
  return Object.keys(found).length > 0 ? found : undefined
}

const propertiesIn = (text: string | undefined): [string, string][] =>
  linesIn(text).map((line) => {
    const [name = "", ...sql] = line.split("=")
    return [name.trim(), sql.join("=").trim()]
  })

/** Whether the range is one of offsets instead of times. */
export const isByOffset = ({ bounds }: UrlState): boolean => bounds === "offsets"

const OFFSETS = /^(?:([^\s/]+)\/)?(\d{1,9})\s*(?::\s*(\d{0,15})\s*[-–]\s*(\d{0,15}))?$/

const linesIn = (text: string | undefined): string[] =>
  (text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)

/** Ranges of offsets as lines "queue: from - to", a broker before the queue where several have it. */
const offsetsIn = (text: string | undefined): OffsetRange[] =>
  linesIn(text).map((line) => {
    const [, broker, queue, from, to] = OFFSETS.exec(line) ?? []
    if (queue === undefined) return { queue: numberIn(line) }
    return { ...(broker && { broker }), queue: Number(queue), ...(from && { from: Number(from) }), ...(to && { to: Number(to) }) }
  })

const isOffsetRange = (line: string): boolean => {
  const [, , queue, from, to] = OFFSETS.exec(line) ?? []
  return queue !== undefined && (!to || Number(to) > Number(from ?? 0))
}

function boundsOf(state: UrlState): Source {
  if (isByOffset(state)) return { topic: state.topic ?? "", offsets: offsetsIn(state.offsets) }
  const queues = words(state.queues).map(numberIn)
  return { ...rangeOf(state.topic, state.from, state.to), ...(queues.length > 0 && { queues }) }
}

function sourceOf(state: UrlState): Source {
  const keys = words(state.keys)
  return {
    ...boundsOf(state),
    ...(keys.length > 0 && { keys }),
    ...(state.keysfile?.trim() && { keys_file: state.keysfile.trim() }),
    ...(state.tag && { tag: state.tag }),
    ...(state.where?.trim() && { where: state.where.trim() }),
  }
}

/** What copies can keep of their originals beside what every copy has. */
export const PRESERVED = ["unique_id", "born_at"] as const

/** Whether a replay writes a Parquet file of the job instead of a topic. */
export const isToFile = ({ tkind }: UrlState): boolean => tkind === "parquet"

/** Whether a replay would write into the topic it reads. */
export const isToItself = (state: UrlState, cluster: string): boolean =>
  !isToFile(state) && Boolean(state.target) && state.target === state.topic && (state.tcluster ?? cluster) === cluster

/** Where a replay writes; fields of the other kind of target are kept in the address, and left out here. */
function targetOf(state: UrlState, cluster: string): ReplayRequest["target"] {
  const transform = transformOf(state)
  if (isToFile(state)) return { kind: "parquet", ...(transform && { transform }) }
  const preserve = PRESERVED.filter((what) => state.preserve?.split(",").includes(what))
  return {
    topic: state.target ?? "",
    ...(state.tcluster && state.tcluster !== cluster && { cluster: state.tcluster }),
    ...(transform && { transform }),
    ...(state.torder === "key" && { order: "key" }),
    ...(preserve.length > 0 && { preserve }),
  }
}

/** The replay that the address describes; fields left empty are absent. */
export function replayOf(state: UrlState, cluster: string): ReplayRequest {
  // A file has no groups that read it, and is written as fast as it can be.
  const { rate, max, live } = isToFile(state) ? ({} as UrlState) : state
  return {
    type: "replay",
    ...commonOf(state, cluster),
    source: sourceOf(state),
    target: targetOf(state, cluster),
    ...(state.damage === "stop" && { on_damage: "stop" }),
    ...(live === "1" && { allow_live_target: true }),
    ...limitsOf({ rate, max, minutes: state.minutes }),
  }
}

const LIMITS = { messages_per_second: "rate", max_messages: "max", max_minutes: "minutes" } as const

/** The limits of a job, if it has any. */
function limitsOf(state: UrlState): Pick<JobRequest, "limits"> {
  const limits = Object.fromEntries(Object.entries(LIMITS).flatMap(([limit, name]) => (state[name] ? [[limit, numberIn(state[name])]] : [])))
  return Object.keys(limits).length > 0 ? { limits } : {}
}

export const FORMATS = ["csv", "jsonl", "parquet"] as const

/** The export that the address describes; without columns it has the usual ones that its user may read. */
export function exportOf(state: UrlState, cluster: string): ExportRequest {
  return {
    type: "export",
    ...commonOf(state, cluster),
    source: sourceOf(state),
    format: FORMATS.find((format) => format === state.format) ?? "csv",
    ...(state.cols && { columns: state.cols.split(",") as NonNullable<JobRequest["columns"]> }),
    ...(state.damage === "stop" && { on_damage: "stop" }),
    ...limitsOf({ minutes: state.minutes }),
  }
}

export const FIELDS = ["body", "tag", "keys", "properties"] as const

/** Compared values as lines "name: left SQL | right SQL | tolerance"; one expression stands for both sides. */
function comparedIn(text: string | undefined): Compared[] {
  return linesIn(text).map((line) => {
    const [, name = "", rest = ""] = /^([\w.-]+)\s*:(?!:)(.*)$/.exec(line) ?? []
    const [left = "", right, tolerance] = rest.split(" | ").map((part) => part.trim())
    return { name, left, right: right ?? left, ...(tolerance !== undefined && { tolerance: numberOr(tolerance) }) }
  })
}

type Compared = Exclude<Extract<NonNullable<JobRequest["compare"]>, unknown[]>[number], string>

const numberOr = (text: string): number => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : Number.NaN)

function compareOf(state: UrlState): NonNullable<JobRequest["compare"]> {
  const { cmp, values } = state
  const expressions = comparedIn(values)
  if (cmp === "none" || !isByWords(state)) return expressions.length > 0 ? expressions : "none"
  const fields = FIELDS.filter((field) => (cmp ?? "body").split(",").includes(field))
  if (expressions.length > 0) return [...fields, ...expressions]
  if (fields.length === 0) return "none"
  return fields.length === 1 && fields[0] === "body" ? "body" : fields
}

/** Whether messages are matched by expressions: chosen, or because a side has rows instead of messages. */
export const isBySql = (state: UrlState): boolean => state.by === "sql" || !isByWords(state)

export function reconcileOf(state: UrlState, cluster: string): ReconcileRequest {
  const lateness = state.late ? Math.round(Number(state.late) * 1_000) : 0
  return {
    type: "reconcile",
    ...commonOf(state, cluster),
    left: sideOf(state, "left", cluster),
    right: sideOf(state, "right", cluster),
    by: isBySql(state) ? { left: state.bleft?.trim() ?? "", right: state.bright?.trim() ?? "" } : (BY.find((by) => by === state.by) ?? "key"),
    compare: compareOf(state),
    ...(state.damage === "stop" && { on_damage: "stop" }),
    ...(state.order === "1" && { order: true }),
    ...(state.multiset === "0" && { multiset: false }),
    ...(lateness > 0 && { lateness_ms: lateness }),
    ...limitsOf({ minutes: state.minutes }),
  }
}

/** Whether the store is checked against itself instead of two sides with each other. */
export const isCheck = ({ check }: UrlState): boolean => check === "store"

export const checkOf = (state: UrlState, cluster: string): JobRequest => ({ type: "reconcile", ...commonOf(state, cluster), check: "store", ...limitsOf({ minutes: state.minutes }) })

/** The most messages a second that the API takes as a limit. */
export const MOST_PER_SECOND = 10_000_000

export type Fault = "moment" | "span" | "reversed" | "queues" | "offsets" | "number" | "properties" | "values" | "expression" | "time"

/** What is wrong in the fields of the address, by field; an empty one is never wrong. */
export function faultsOf(state: UrlState): Readonly<Record<string, Fault>> {
  const found: Record<string, Fault> = {}
  const note = (name: string, fault: Fault | false | undefined) => {
    if (fault) found[name] = fault
  }
  for (const [from, to] of [["from", "to"], ["rfrom", "rto"]] as const) Object.assign(found, rangeFaults(state, from, to))
  note("offsets", isByOffset(state) && !linesIn(state.offsets).every(isOffsetRange) && "offsets")
  note("queues", !isByOffset(state) && !words(state.queues).every((word) => /^\d{1,9}$/.test(word)) && "queues")
  note("tprops", !propertiesIn(state.tprops).every(([name, sql]) => name && sql) && "properties")
  for (const name of isCheck(state) ? [] : sqlFaults(state)) note(name, name === "values" ? "values" : "expression")
  for (const side of SIDES) note(sideField(side, "time"), isTimeMissing(state, side) && "time")
  note("rate", !isLimit(state.rate, MOST_PER_SECOND) && "number")
  note("max", !isLimit(state.max) && "number")
  note("minutes", !isLimit(state.minutes, MOST_MINUTES) && "number")
  return found
}

function rangeFaults(state: UrlState, from: "from" | "rfrom", to: "to" | "rto"): Record<string, Fault> {
  const faults: Record<string, Fault> = {}
  for (const name of [from, to]) {
    const fault = boundFault(state[name])
    if (fault) faults[name] = fault
  }
  const isAsked = Boolean(state[from] ?? state[to]) && Object.keys(faults).length === 0
  return isAsked && isReversed(state[from], state[to]) ? { [to]: "reversed" } : faults
}

/** Which expressions of a comparison are not whole. */
function sqlFaults(state: UrlState): string[] {
  const isWholeList = comparedIn(state.values).every(({ name, left, right, tolerance = 0 }) => name && left && right && tolerance >= 0)
  const keys = isBySql(state) ? ["bleft", "bright"].filter((name) => !state[name]?.trim()) : []
  return isWholeList ? keys : [...keys, "values"]
}

const isLimit = (text: string | undefined, most = Number.MAX_SAFE_INTEGER) => !text || (/^[1-9]\d{0,14}$/.test(text) && Number(text) <= most)

function boundFault(bound: string | undefined): Fault | undefined {
  const span = spanOf(bound)
  if (span) return span.amount >= 1 && span.amount <= LONGEST[span.unit] ? undefined : "span"
  return bound && kindOf(bound) === "fixed" && !isInstant(bound) ? "moment" : undefined
}

/** Whether nothing can lie between: two moments, or two times counted from the same run. */
function isReversed(from: string | undefined, to: string | undefined): boolean {
  const [start, end] = [placeOf(from), placeOf(to)]
  return start !== null && end !== null && start.isFixed === end.isFixed && end.at <= start.at
}

function placeOf(bound: string | undefined): { isFixed: boolean; at: number } | null {
  if (!bound) return null
  if (bound === SCHEDULED_AT) return { isFixed: false, at: 0 }
  const span = spanOf(bound)
  if (span) return { isFixed: false, at: -span.amount * MS[span.unit] }
  return isInstant(bound) ? { isFixed: true, at: Date.parse(bound) } : null
}

const isElsewhere = ({ target }: JobRequest): boolean => target?.cluster !== undefined

/** Whether a job could start with it: what it reads and writes is named, and no field is wrong. */
export function isWhole(request: JobRequest, state: UrlState): boolean {
  return hasParts(request) && Object.keys(faultsOf(state)).length === 0
}

function hasParts(request: JobRequest): boolean {
  const { type, source, target, left, right } = request
  if (type === "export") return isNamed(source)
  if (type === "replay" && target?.kind === "parquet") return isNamed(source)
  if (type === "replay") return isNamed(source) && Boolean(target?.topic) && (source?.topic !== target?.topic || isElsewhere(request) || request.allow_live_target === true)
  return request.check === "store" || (isSideWhole(left) && isSideWhole(right) && !areSame(left, right))
}

/** Whether a field is wrong; an expression that is still to be typed is missing. */
export const isWrong = (state: UrlState): boolean => Object.values(faultsOf(state)).some((fault) => fault !== "expression")

/** What keeps a job from starting with a request, the first thing to do; null where nothing does. */
export function lackOf(request: JobRequest, state: UrlState): "wrong" | "tickFirst" | "notReady" | null {
  if (isWhole(request, state)) return null
  if (isWrong(state) || areSame(request.left, request.right)) return "wrong"
  return hasParts({ ...request, allow_live_target: true }) && Object.keys(faultsOf(state)).length === 0 ? "tickFirst" : "notReady"
}

/** Whether the fields of a source are filled in, and none is wrong. */
export const isSourceReady = (source: Source, faults: Readonly<Record<string, Fault>>): boolean =>
  isNamed(source) && !["from", "to", "queues", "offsets"].some((name) => faults[name])

/** Whether a source is less than all of its topic. */
export const isNarrowed = (source: Source): boolean => Object.keys(source).some((name) => name !== "topic")

/** The most that is read of a topic that holds so many messages; null where a time or a filter decides, which nobody has counted. */
export function mostReadOf(source: Source, held: number | null): number | null {
  if (!isNarrowed(source)) return held
  const sizes = source.offsets?.map(({ from, to }) => (from === undefined || to === undefined ? Number.NaN : to - from)) ?? [Number.NaN]
  const read = sizes.reduce((sum, size) => sum + size, 0)
  return Number.isNaN(read) ? null : Math.min(read, held ?? read)
}

/** Whether a source names its topic, and its offsets where it is to be read by them. */
const isNamed = (source: Source | undefined): boolean => Boolean(source?.topic) && source?.offsets?.length !== 0
