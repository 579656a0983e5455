import { momentOf, zoneOffset } from "@/lib/time"

/** The five fields of a cron line as sets of allowed numbers. */
interface Cron {
  minutes: ReadonlySet<number>
  hours: ReadonlySet<number>
  days: ReadonlySet<number>
  months: ReadonlySet<number>
  weekdays: ReadonlySet<number>
  /** With both a day and a weekday given, either one is enough. */
  eitherDay: boolean
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
const FIELDS = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 7, names: WEEKDAYS },
] as const

/** The line as sets, or null when it is no cron line. */
export function parseCron(line: string): Cron | null {
  const fields = line.trim().toLowerCase().split(/\s+/)
  if (fields.length !== FIELDS.length) return null
  const sets = FIELDS.map(({ low, high, names }, index) => parseField(fields[index] ?? "", low, high, names))
  const [minutes, hours, days, months, weekdays] = sets
  if (!minutes || !hours || !days || !months || !weekdays) return null
  const week = new Set([...weekdays].map((weekday) => weekday % 7))
  return { minutes, hours, days, months, weekdays: week, eitherDay: fields[2] !== "*" && fields[4] !== "*" }
}

function parseField(text: string, low: number, high: number, names: readonly string[]): Set<number> | null {
  const found = new Set<number>()
  for (const part of text.split(",")) {
    const match = /^(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:\/(\d+))?$/.exec(part)
    if (!match) return null
    const step = match[2] === undefined ? 1 : Number(match[2])
    const [from, to] = boundsOf(match[1] ?? "*", low, high, names, match[2] !== undefined)
    if (step < 1 || from === null || to === null || from < low || to > high || from > to) return null
    for (let value = from; value <= to; value += step) found.add(value)
  }
  return found
}

function boundsOf(text: string, low: number, high: number, names: readonly string[], isStepped: boolean): [number | null, number | null] {
  if (text === "*") return [low, high]
  const numberOf = (word: string | undefined): number | null => {
    if (word === undefined) return null
    if (/^\d+$/.test(word)) return Number(word)
    const index = names.indexOf(word)
    return index < 0 ? null : index + low
  }
  const [first, last] = text.split("-")
  const from = numberOf(first)
  return [from, last === undefined ? (isStepped ? high : from) : numberOf(last)]
}

const MINUTE_MS = 60_000
const FURTHEST_DAYS = 366 * 5

/** The next moments (ms) at which the line is due, read on the wall clock of the zone. */
export function nextRuns(line: string, zone: string, after: number, amount = 5): number[] {
  const cron = parseCron(line)
  if (!cron) return []
  const found: number[] = []
  const { year, month, day } = momentOf(after, zone)
  for (let ahead = 0; ahead < FURTHEST_DAYS && found.length < amount; ahead += 1) {
    const date = new Date(Date.UTC(year, month - 1, day + ahead))
    if (!isDay(cron, date)) continue
    for (const at of timesOf(cron, date, zone)) {
      if (at > after && found.length < amount) found.push(at)
    }
  }
  return found
}

function isDay(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false
  const isDate = cron.days.has(date.getUTCDate())
  const isWeekday = cron.weekdays.has(date.getUTCDay())
  return cron.eitherDay ? isDate || isWeekday : isDate && isWeekday
}

function timesOf({ hours, minutes }: Cron, date: Date, zone: string): number[] {
  const found: number[] = []
  for (const hour of [...hours].sort((a, b) => a - b)) {
    for (const minute of [...minutes].sort((a, b) => a - b)) {
      const wall = date.getTime() + (hour * 60 + minute) * MINUTE_MS
      const guess = wall - zoneOffset(wall, zone)
      const at = wall - zoneOffset(guess, zone)
      // An hour that the clock jumps over does not exist on that day.
      if (momentOf(at, zone).hour === hour) found.push(at)
    }
  }
  return found
}
