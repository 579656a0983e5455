import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

/** The lines of a scan as they come; ends it when the signal aborts. */
export const scanLines = (cluster: string, topic: string, request: string, signal: AbortSignal) =>
  api.lines(paths.topicScan(cluster, topic), request, signal)
