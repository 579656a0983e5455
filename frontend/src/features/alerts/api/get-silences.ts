import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Page, Silence } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

export const useSilences = () =>
  useQuery({
    queryKey: alertKeys.silences,
    queryFn: ({ signal }) => api.get<Page<Silence>>(paths.silences, { limit: 100 }, signal),
    select: ({ items }) => items,
    refetchInterval: 2 * ASK_EVERY_MS,
  })
