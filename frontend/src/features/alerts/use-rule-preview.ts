import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useDebounced } from "@/hooks/use-debounced"
import type { RuleLimits } from "@/lib/api-types"
import { previewRule } from "./api/preview-rule"
import { WITH_HISTORY } from "./measure"

/** What a rule would have done within the last day; asked again when one stops typing or dragging. */
export function useRulePreview(limits: RuleLimits) {
  const still = useDebounced(JSON.stringify(limits))
  return useQuery({
    queryKey: ["alerts", "preview", still],
    queryFn: ({ signal }) => previewRule(JSON.parse(still) as RuleLimits, signal),
    enabled: WITH_HISTORY.includes(limits.metric) && Number.isFinite(limits.limit),
    placeholderData: keepPreviousData,
    retry: false,
  })
}
