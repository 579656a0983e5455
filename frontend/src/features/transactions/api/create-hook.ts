import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TransactionHook, TransactionHookInput } from "@/lib/api-types"
import { useHookChange } from "./use-hook-change"

export const useCreateHook = (cluster: string) => useHookChange((input: TransactionHookInput) => api.post<TransactionHook>(paths.transactionHooks(cluster), input))
