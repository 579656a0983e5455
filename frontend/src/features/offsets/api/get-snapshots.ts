import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Items, OffsetSnapshot } from "@/lib/api-types"
import { offsetKeys } from "./keys"

export const useSnapshots = (cluster: string, group: string) =>
  useQuery({
    queryKey: offsetKeys.snapshots(cluster, group),
    queryFn: ({ signal }) => api.get<Items<OffsetSnapshot>>(paths.offsetSnapshots(cluster, group), undefined, signal),
  })
