import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TransactionHook, TransactionHookChange } from "@/lib/api-types"
import { useHookChange } from "./use-hook-change"

export const useUpdateHook = (cluster: string, id: string) => useHookChange((input: TransactionHookChange) => api.patch<TransactionHook>(paths.transactionHook(cluster, id), input))
