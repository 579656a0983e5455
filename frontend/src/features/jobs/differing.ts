import { ExactNumber, ExactObject, exactJson } from "@/lib/exact-json"
import type { Sample } from "./report"

/** One value of a message on both sides; null where that side has none. */
export interface ValueLine {
  /** Where in the field: a path of JSON, or the name of a property; empty for the whole field. */
  path: string
  left: string | null
  right: string | null
}

export const differs = ({ left, right }: ValueLine): boolean => left !== right

/** The values of a field line by line: JSON by paths and properties by names where both sides have them, otherwise the whole. */
export function linesOfField(field: string, left: string | null, right: string | null): ValueLine[] {
  const [one, other] = [partsOf(field, left), partsOf(field, right)]
  if (one === null || other === null) return [{ path: "", left, right }]
  const paths = [...one.keys(), ...[...other.keys()].filter((path) => !one.has(path))]
  return paths.map((path) => ({ path, left: one.get(path) ?? null, right: other.get(path) ?? null }))
}

function partsOf(field: string, text: string | null): ReadonlyMap<string, string> | null {
  if (text === null) return null
  const parts = new Map<string, string>()
  if (field === "properties") {
    for (const line of text.split("\n").filter(Boolean)) parts.set(line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1))
    return parts
  }
  const value = exactJson(text)
  if (!(value instanceof ExactObject)) return null
  collect(value, "", parts)
  return parts
}

function collect(value: unknown, path: string, parts: Map<string, string>): void {
  if (value instanceof ExactObject && value.members.length > 0)
    for (const [name, member] of value.members) collect(member, path ? `${path}.${name}` : name, parts)
  else if (Array.isArray(value) && value.length > 0) value.forEach((item, index) => collect(item, `${path}[${index}]`, parts))
  else parts.set(path, written(value))
}

function written(value: unknown): string {
  if (value instanceof ExactNumber) return value.text
  if (value instanceof ExactObject) return "{}"
  return JSON.stringify(value)
}

/** Every value of a sample that is another on each side. */
export const differencesIn = ({ values = {} }: Sample): ValueLine[] =>
  Object.entries(values).flatMap(([field, { left, right }]) =>
    linesOfField(field, left, right)
      .filter(differs)
      .map((line) => ({ ...line, path: line.path || field })),
  )

const MINUS = "\u2212"

/** By how much a number differs, with a sign; null where one side is no number that a double holds. */
export function changeOf({ left, right }: ValueLine): string | null {
  const [one, other] = [numberIn(left), numberIn(right)]
  if (one === null || other === null) return null
  const change = Number((other - one).toPrecision(12))
  return `${change < 0 ? MINUS : "+"}${Math.abs(change)}`
}

const numberIn = (text: string | null): number | null => (text !== null && /^-?\d+(\.\d+)?$/.test(text) && text.length < 16 ? Number(text) : null)
