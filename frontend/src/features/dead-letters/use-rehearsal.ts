import type { UseQueryResult } from "@tanstack/react-query"
import { useDebounced } from "@/hooks/use-debounced"
import { useMay } from "@/hooks/use-rights"
import type { RedriveAsked, RedrivePreview } from "@/lib/api-types"
import { asProblem } from "@/lib/problem"
import type { Refusal } from "@/components/wizard/refusals"
import { usePreviews } from "./api/preview-redrives"

export interface Rehearsal {
  /** What it would do; absent while something is still to be chosen or typed. */
  preview: UseQueryResult<RedrivePreview> | undefined
  refusals: Refusal[]
}

const NONE: readonly [string, RedriveAsked][] = []

/** A dry run of a request once it stands still, which keeps itself up to date. Whether it is allowed changes nothing about it. */
export function useRehearsal(cluster: string, group: string | undefined, asked: RedriveAsked, isReady: boolean): Rehearsal {
  const may = useMay("redrive")
  const now = JSON.stringify({ ...asked, allow_live_target: undefined })
  const still = useDebounced(now)
  const body = JSON.parse(still) as RedriveAsked
  const [preview] = usePreviews(cluster, group !== undefined && isReady && still === now ? [[group, body]] : NONE, may)
  return { preview, refusals: preview?.error ? [{ sent: body, fields: asProblem(preview.error).fields }] : [] }
}
