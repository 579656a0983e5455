import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Rule, RuleInput } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useCreateRule = () => useAlertChange((input: RuleInput) => api.post<Rule>(paths.alertRules, input))
