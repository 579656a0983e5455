import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupMember } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** The inner state of a native client; asked again and again while it is shown. */
export const useGroupClient = (cluster: string, group: string, client: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, `client ${client}`),
    queryFn: ({ signal }) => api.get<GroupMember>(paths.groupClient(cluster, group, client), undefined, signal),
    refetchInterval: POLL_MS,
  })
