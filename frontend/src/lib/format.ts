import type { Language } from "@/lib/preferences"

/** Writing numbers: exact with commas, the unit small and apart, a true minus. */
const exact = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const MINUS = "\u2212"

export const count = (value: number): string => exact.format(value).replace("-", MINUS)

/** A change with its sign; none has no sign. */
export function signed(value: number): string {
  const whole = Math.round(value)
  return `${whole < 0 ? MINUS : whole > 0 ? "+" : ""}${exact.format(Math.abs(whole))}`
}

/** A rate below ten keeps one decimal, so that a slow trickle is not written as 0. */
export function rate(value: number): string {
  if (value > 0 && value < 0.05) return "<0.1"
  return value > 0 && value < 9.95 && !Number.isInteger(value) ? oneDecimal.format(value) : exact.format(Math.round(value))
}

export const percentNumber = (ratio: number): string => oneDecimal.format(ratio * 100)
export const percent = (ratio: number): string => `${percentNumber(ratio)} %`

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const

/** Decimal units; one decimal from GB on, and below 10 MB: 2 MB would be 1.5 as well as 2.4. */
export function bytes(value: number): string {
  if (value < 10_000) return `${exact.format(value)} B`
  let unit = 0
  let rest = value
  while (rest >= 1000 && unit < BYTE_UNITS.length - 1) {
    rest /= 1000
    unit += 1
  }
  return `${unit >= 3 || (unit === 2 && rest < 9.95) ? oneDecimal.format(rest) : exact.format(rest)} ${BYTE_UNITS[unit] ?? "B"}`
}

const COMPACT = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const

/** Short numbers, for axes and progress lines only: 200 k, 1.24 M. */
export function compact(value: number): string {
  for (const [size, unit] of COMPACT) {
    if (Math.abs(value) >= size) return `${trimmed(value / size)} ${unit}`
  }
  return trimmed(value)
}

const trimmed = (value: number) => String(Number(value.toPrecision(3)))

const DURATION_UNITS = [
  { ms: 86_400_000, en: "d", zh: "天" },
  { ms: 3_600_000, en: "h", zh: "小时" },
  { ms: 60_000, en: "min", zh: "分" },
  { ms: 1_000, en: "s", zh: "秒" },
] as const

/** Exact milliseconds, where they are what one looks for: 3,051 ms. */
export const milliseconds = (ms: number, language: Language): string => `${count(ms)} ${language === "zh" ? "毫秒" : "ms"}`

/** The two largest units: 5 min 6 s, 2 d 4 h; below a second in ms. */
export function duration(ms: number, language: Language): string {
  if (ms < 1_000) return milliseconds(ms, language)
  const seconds = Math.floor(ms / 1_000) * 1_000
  const first = DURATION_UNITS.findIndex((unit) => seconds >= unit.ms)
  const parts = DURATION_UNITS.slice(first, first + 2)
  let rest = seconds
  const words: string[] = []
  for (const unit of parts) {
    const amount = Math.floor(rest / unit.ms)
    rest -= amount * unit.ms
    if (amount > 0) words.push(`${amount} ${unit[language]}`)
  }
  return words.join(" ")
}

/** For the levels of an axis, where there is room for one unit: 90 s, 1.5 h. */
export function axisDuration(ms: number, language: Language): string {
  const unit = DURATION_UNITS.find(({ ms: size }) => ms >= size && Number.isInteger((ms * 2) / size))
  return unit ? `${ms / unit.ms} ${unit[language]}` : duration(ms, language)
}

/** Ids differ at the end, so the middle is cut: AC11…61E8B2. */
export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id)

export const queueAndOffset = (queue: number, offset: number): string => `${queue} / ${count(offset)}`
