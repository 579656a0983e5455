import type { Language } from "@/lib/preferences"

/** Times are written in one chosen zone: an IANA name, or "browser". */
export interface Moment {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  ms: number
}

export interface TimeStyle {
  zone: string
  language: Language
  /** Milliseconds, where single messages are meant. */
  withMs?: boolean
  now?: number
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const
const formats = new Map<string, Intl.DateTimeFormat>()

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"
export const zoneName = (zone: string): string => (zone === "browser" ? browserZone() : zone)

function formatOf(zone: string): Intl.DateTimeFormat {
  const name = zoneName(zone)
  const known = formats.get(name)
  if (known) return known
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone: isZone(name) ? name : "UTC",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    timeZoneName: "shortOffset",
  })
  formats.set(name, made)
  return made
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name })
    return true
  } catch {
    return false
  }
}

function partsOf(at: number, zone: string): Record<string, string> {
  return Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
}

export function momentOf(at: number, zone: string): Moment {
  const parts = partsOf(at, zone)
  const number = (name: string) => Number(parts[name] ?? 0)
  return {
    year: number("year"),
    month: number("month"),
    day: number("day"),
    hour: number("hour"),
    minute: number("minute"),
    second: number("second"),
    ms: ((at % 1000) + 1000) % 1000,
  }
}

/** The zone as it is shown: UTC+8, UTC+5:30, UTC. */
export function zoneLabel(zone: string, at: number = Date.now()): string {
  return (partsOf(at, zone).timeZoneName ?? "UTC").replace("GMT", "UTC").replace(/[+-]0$/, "")
}

/** How far the zone is from UTC at that moment, in ms. */
export function zoneOffset(at: number, zone: string): number {
  const { year, month, day, hour, minute, second, ms } = momentOf(at, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second, ms) - at
}

const two = (value: number) => String(value).padStart(2, "0")

export function clock(at: number, zone: string, { seconds = true, withMs = false } = {}): string {
  const { hour, minute, second, ms } = momentOf(at, zone)
  const tail = withMs ? `:${two(second)}.${String(ms).padStart(3, "0")}` : seconds ? `:${two(second)}` : ""
  return `${two(hour)}:${two(minute)}${tail}`
}

export function day(at: number, zone: string, language: Language, now: number = Date.now()): string {
  const moment = momentOf(at, zone)
  const sameYear = momentOf(now, zone).year === moment.year
  if (language === "zh") return `${sameYear ? "" : `${moment.year}-`}${two(moment.month)}-${two(moment.day)}`
  return `${moment.day} ${MONTHS[moment.month - 1] ?? ""}${sameYear ? "" : ` ${moment.year}`}`
}

/** For axes, the same in every language: 11-20. */
export function monthAndDay(at: number, zone: string): string {
  const { month, day: dayOfMonth } = momentOf(at, zone)
  return `${two(month)}-${two(dayOfMonth)}`
}

export function isSameDay(left: number, right: number, zone: string): boolean {
  const a = momentOf(left, zone)
  const b = momentOf(right, zone)
  return a.year === b.year && a.month === b.month && a.day === b.day
}

/** Today: the clock. Else day and clock; the year only if it is another. */
export function when(at: number, { zone, language, withMs = false, now = Date.now() }: TimeStyle): string {
  if (isSameDay(at, now, zone)) return clock(at, zone, { withMs })
  return `${day(at, zone, language, now)} ${clock(at, zone, { seconds: withMs, withMs })}`
}

/** All forms of a moment, for tooltips: the chosen zone, UTC, and milliseconds since 1970. */
export function everyForm(at: number, zone: string): string {
  const { year, month, day: dayOfMonth } = momentOf(at, zone)
  const chosen = `${year}-${two(month)}-${two(dayOfMonth)} ${clock(at, zone, { withMs: true })} ${zoneLabel(zone, at)}`
  return `${chosen}\n${new Date(at).toISOString()}\n${at} ms`
}

/** A wall-clock text ("2026-11-21 14:10:00") of the zone as ms, or null when it is none. */
export function parseWallClock(text: string, zone: string): number | null {
  const match = /^(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/.exec(text.trim())
  if (!match) return null
  const [year = 0, month = 1, date = 1, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((v) => Number(v ?? 0))
  const ms = Number((match[7] ?? "0").padEnd(3, "0"))
  const wall = Date.UTC(year, month - 1, date, hour, minute, second, ms)
  // What no calendar and no clock has (30 February, 12:60) would become another moment.
  const read = momentOf(wall, "UTC")
  if (read.month !== month || read.day !== date || read.hour !== hour || read.minute !== minute) return null
  // Twice, because the offset can differ between the guess and the answer.
  const first = wall - zoneOffset(wall, zone)
  return wall - zoneOffset(first, zone)
}

/** The wall clock of the zone as it is typed: 2026-11-21 14:10:00. */
export function wallClock(at: number, zone: string): string {
  const { year, month, day: dayOfMonth, ms } = momentOf(at, zone)
  return `${year}-${two(month)}-${two(dayOfMonth)} ${clock(at, zone, { withMs: ms !== 0 })}`
}

/** Whether the text is a moment as RFC 3339 writes it, with its zone. */
export const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
