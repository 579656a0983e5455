import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Page, TransactionHook } from "@/lib/api-types"
import { transactionKeys } from "./keys"

const POLL_MS = 5_000

/** The transaction hooks of a cluster, with what came of their last checks. */
export const useHooks = (cluster: string) =>
  useQuery({
    queryKey: transactionKeys.hooks(cluster),
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<TransactionHook>>(paths.transactionHooks(cluster), { limit: 100 }, signal)
      keepTags(page.items, ({ id }) => paths.transactionHook(cluster, id))
      return page
    },
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
