import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Message, Timeline } from "@/lib/api-types"

/** What happened to a message; it goes on, so it is read again. */
export const useTimeline = (cluster: string, { message_id, topic }: Message) =>
  useQuery({
    queryKey: ["messages", cluster, "timeline", message_id, topic],
    queryFn: ({ signal }) => api.get<Timeline>(paths.messageTimeline(cluster, message_id), { topic }, signal),
    refetchInterval: 10_000,
  })
