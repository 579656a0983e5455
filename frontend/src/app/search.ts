import type { UrlState } from "@/hooks/use-url-state"

/** Query strings stay plain: every value is a word, nothing is quoted or nested. */
export const parseSearch = (text: string): UrlState => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(state: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(state)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value))
  }
  const text = params.toString()
  return text ? `?${text}` : ""
}
