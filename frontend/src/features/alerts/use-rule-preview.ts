import { keepPreviousData, skipToken, useQuery } from "@tanstack/react-query"
import { useDebounced } from "@/hooks/use-debounced"
import type { RuleLimits } from "@/lib/api-types"
import { previewRule } from "./api/preview-rule"
import { WITH_HISTORY } from "./measure"

/** What a rule would have done within the last day; asked again when one stops typing or dragging, never with null. */
export function useRulePreview(limits: RuleLimits | null) {
  const still = useDebounced(JSON.stringify(limits))
  const asked = JSON.parse(still) as RuleLimits | null
  return useQuery({
    queryKey: ["alerts", "preview", still],
    queryFn: asked === null || !WITH_HISTORY.includes(asked.metric) ? skipToken : ({ signal }) => previewRule(asked, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
}
