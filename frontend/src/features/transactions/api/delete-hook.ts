import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useHookChange } from "./use-hook-change"

export const useDeleteHook = (cluster: string, id: string) => useHookChange(() => api.delete(paths.transactionHook(cluster, id)))
