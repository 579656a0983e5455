import { useQueries } from "@tanstack/react-query"
import type { RedriveAsked } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"
import { previewRedrive } from "./preview-redrive"

const POLL_MS = 10_000

/** A dry run for each group, which keeps itself up to date; it sends nothing. */
export const usePreviews = (cluster: string, asked: readonly [group: string, body: RedriveAsked][], enabled: boolean) =>
  useQueries({
    queries: asked.map(([group, body]) => ({
      queryKey: deadLetterKeys.preview(cluster, group, JSON.stringify(body)),
      queryFn: () => previewRedrive(cluster, group, body),
      refetchInterval: POLL_MS,
      enabled,
      retry: false,
    })),
  })
