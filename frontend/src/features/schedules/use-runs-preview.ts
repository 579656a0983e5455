import { useEffect, useState } from "react"
import { useDebounced } from "@/hooks/use-debounced"
import { useNow } from "@/hooks/use-now"
import { asProblem, type Problem } from "@/lib/problem"
import { previewSchedule } from "./api/preview-schedule"

const RUNS = 5
const MINUTE_MS = 60_000

interface Answer {
  /** The line and zone that were asked about. */
  asked: string
  runs: readonly string[]
  error: Problem | null
}

export interface RunsPreview {
  /** The next times, as RFC 3339. While a new line is asked about, those of the line before. */
  runs: readonly string[]
  /** Whether the runs belong to a line that was changed since. */
  isChecking: boolean
  /** Why there are no runs for the line as it stands. */
  error: Problem | null
}

/** Asks the scheduler itself when a line is due, once the line stands still, and again each minute. */
export function useRunsPreview(cron: string, zone: string): RunsPreview {
  const line = cron.trim()
  const asked = `${zone} ${line}`
  const still = useDebounced(asked)
  const minute = Math.floor(useNow(MINUTE_MS / 2) / MINUTE_MS)
  const [answer, setAnswer] = useState<Answer>({ asked: "", runs: [], error: null })
  const isStill = still === asked && line !== ""
  useEffect(() => {
    if (!isStill) return
    const abort = new AbortController()
    const settle = (known: Omit<Answer, "asked">) => {
      if (!abort.signal.aborted) setAnswer({ asked, ...known })
    }
    previewSchedule({ cron: line, zone, count: RUNS }, abort.signal).then(
      ({ next_runs: runs }) => settle({ runs, error: null }),
      (error: unknown) => settle({ runs: [], error: asProblem(error) }),
    )
    return () => abort.abort()
  }, [isStill, asked, line, zone, minute])
  const isKnown = answer.asked === asked
  return { runs: line === "" ? [] : answer.runs, isChecking: line !== "" && !isKnown, error: isKnown ? answer.error : null }
}
