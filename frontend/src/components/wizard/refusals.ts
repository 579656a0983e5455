import { createContext, useContext } from "react"
import { useTranslation } from "react-i18next"
import { detailIn } from "@/lib/reasons"

/** What the server said of the fields of a request, by their path in it, such as `source.where`. */
export interface Refusal {
  sent: object
  fields: Readonly<Record<string, string>>
}

interface Refusals {
  /** The request as its fields stand now. */
  request: object
  refusals: readonly Refusal[]
  note: (refusal: Refusal) => void
  /** The step of the wizard that has a field. */
  stepOf: (path: string) => { label: string; go: () => void } | undefined
}

export const RefusalsContext = createContext<Refusals>({ request: {}, refusals: [], note: () => undefined, stepOf: () => undefined })

export const useRefusals = (): Refusals => useContext(RefusalsContext)

/** Why the server refused the field of a path, or a part of it, in the language of the reader; of one that was changed since, it said nothing. */
export function useRefused(): (path: string) => string | undefined {
  const { t, i18n } = useTranslation()
  const { request, refusals } = useRefusals()
  return (path) => {
    const refusal = refusals.find(({ sent, fields }) => isWithin(path, Object.keys(fields)) && isSame(sent, request, path))
    const [, detail] = Object.entries(refusal?.fields ?? {}).find(([field]) => isPart(field, path)) ?? []
    return detail && detailIn(t, i18n.language, detail)
  }
}

/** Whether a field lies at a path or below it. */
export const isPart = (field: string, path: string): boolean => field === path || field.startsWith(`${path}.`)

const isWithin = (path: string, fields: readonly string[]): boolean => fields.some((field) => isPart(field, path))

const isSame = (one: object, other: object, path: string): boolean => JSON.stringify(valueAt(one, path)) === JSON.stringify(valueAt(other, path))

const valueAt = (request: object, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined), request)
