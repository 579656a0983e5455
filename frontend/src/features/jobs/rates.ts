import type { JobProgress } from "@/lib/api-types"

export interface Rates {
  /** Seconds since 1970. */
  times: number[]
  read: (number | null)[]
  written: (number | null)[]
}

/** A program writes its counters each second: the steps of so short a time are no rate yet. */
const WINDOW_S = 3
/** A run that says nothing for so many of its usual steps was paused, or died. */
const SILENT_STEPS = 5
const LEAST_SILENCE_S = 10

/** Messages a second over the whole run; null while nothing was running. */
export function ratesOf(samples: JobProgress["samples"]): Rates {
  const times = samples.map(({ at }) => Date.parse(at) / 1000)
  const silence = Math.max(LEAST_SILENCE_S, SILENT_STEPS * usualStep(times))
  const pick = (name: "read" | "written") => samples.map((_, index) => rateAt(samples, times, index, name, silence))
  return { times, read: pick("read"), written: pick("written") }
}

function usualStep(times: readonly number[]): number {
  const steps = times.slice(1).map((at, index) => at - (times[index] ?? at))
  return steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
}

function rateAt(samples: JobProgress["samples"], times: readonly number[], index: number, name: "read" | "written", silence: number): number | null {
  const now = times[index] ?? 0
  let before = index
  while (before > 0 && now - (times[before] ?? 0) < WINDOW_S && isJoined(samples, times, before, silence)) before -= 1
  const passed = now - (times[before] ?? 0)
  const added = (samples[index]?.[name] ?? 0) - (samples[before]?.[name] ?? 0)
  return passed > 0 ? added / passed : null
}

/** Whether a run went on between two samples: one that begins anew counts from zero again. */
function isJoined(samples: JobProgress["samples"], times: readonly number[], index: number, silence: number): boolean {
  const [before, now] = [samples[index - 1], samples[index]]
  const isOn = before !== undefined && now !== undefined && now.read >= before.read && now.written >= before.written
  return isOn && (times[index] ?? 0) - (times[index - 1] ?? 0) <= silence
}
