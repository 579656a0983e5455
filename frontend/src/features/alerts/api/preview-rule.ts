import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { RuleLimits, RulePreview } from "@/lib/api-types"

/** Where a rule would have fired within the last day; keeps nothing. */
export const previewRule = (limits: RuleLimits, signal: AbortSignal) => api.post<RulePreview>(paths.alertPreview, limits, { signal })
