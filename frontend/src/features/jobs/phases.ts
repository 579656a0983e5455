import type { Job } from "@/lib/api-types"

export interface Phase {
  name: string
  seconds: number
  /** Seconds after the job was queued. */
  from: number
}

const TO_FIRST = "until the first messages"
const SHORTEST_S = 0.05

/**
 * The phases of a run, each after the one before: only planning goes on while Spark starts. Those too short to be seen are
 * left out; null for a job whose result tells of none.
 */
export function phasesOf({ result }: Job): { phases: Phase[]; whole: number; toFirst: number | null } | null {
  const told = result?.phases as Record<string, number> | undefined
  if (!told) return null
  const { [TO_FIRST]: toFirst = null, ...rest } = told
  const phases: Phase[] = []
  let at = 0
  for (const [name, seconds] of Object.entries(rest)) {
    if (seconds >= SHORTEST_S) phases.push({ name, seconds, from: at })
    if (name !== "planning" || !("starting Spark" in rest)) at += seconds
  }
  return phases.length === 0 ? null : { phases, whole: at, toFirst }
}
