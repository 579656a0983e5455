import type { Report } from "./report"

export const STORE_FIGURES = ["records", "units", "keys", "index_entries", "orphans", "purged", "expired_entries", "pending"] as const

/** The report of a store that was checked against itself. */
export interface StoreFindings {
  check: "store"
  tiles: Record<(typeof STORE_FIGURES)[number], number>
  /** How many of each kind. */
  faults: Readonly<Record<string, number>>
  /** The first of them as "kind: what is wrong, and where". */
  told: readonly string[]
}

/** The findings of a check; undefined for the report of a comparison of two sides. */
export const findingsIn = (report: Report | StoreFindings | undefined): StoreFindings | undefined => (report && "check" in report ? report : undefined)

const KINDS = {
  log: "log",
  index: "index",
  checkpoint: "checkpoint",
  "damaged message": "damaged",
  "unit without record": "noRecord",
  "record without unit": "noUnit",
  "record with another unit": "otherUnit",
  "wrong tag hash": "tagHash",
} as const

export type FaultKind = (typeof KINDS)[keyof typeof KINDS] | "other"

export const kindOfFault = (name: string): FaultKind => (name in KINDS ? KINDS[name as keyof typeof KINDS] : "other")

export interface Fault {
  id: string
  /** As the program names the kind. */
  name: string
  kind: FaultKind
  text: string
}

export const faultsIn = ({ faults }: StoreFindings): number => Object.values(faults).reduce((sum, number) => sum + number, 0)

/** The faults that are listed, each with its kind. */
export const toldIn = ({ told }: StoreFindings): Fault[] =>
  told.map((line, index) => {
    const [name = "", ...rest] = line.split(": ")
    return { id: String(index), name, kind: kindOfFault(name), text: rest.join(": ") }
  })
