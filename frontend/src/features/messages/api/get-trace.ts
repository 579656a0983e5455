import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { MessageTrace } from "@/lib/api-types"
import type { MessageAddress } from "./get-message"

/** What clients traced of a message; traces arrive late, so they are read again. */
export const useTrace = (cluster: string, { id, topic }: MessageAddress) =>
  useQuery({
    queryKey: ["messages", cluster, "trace", id, topic],
    queryFn: ({ signal }) => api.get<MessageTrace>(paths.messageTrace(cluster, id), { topic }, signal),
    refetchInterval: 10_000,
  })
