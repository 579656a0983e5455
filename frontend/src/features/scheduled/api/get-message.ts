import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduledDetail } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

/** One message that waits, with its body for those who may read it. */
export const useScheduledMessage = (cluster: string, id: string) =>
  useQuery({
    queryKey: scheduledKeys.message(cluster, id),
    queryFn: ({ signal }) => api.get<ScheduledDetail>(paths.scheduledMessage(cluster, id), undefined, signal),
  })
