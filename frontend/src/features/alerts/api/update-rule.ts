import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Rule, RuleInput } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useUpdateRule = (id: string) => useAlertChange((input: Partial<RuleInput>) => api.patch<Rule>(paths.alertRule(id), input))
