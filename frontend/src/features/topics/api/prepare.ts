import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { PreparedMessage } from "@/lib/api-types"
import { JSON_HEADERS } from "./produce"

/** Prepares the text of one message: it is stored, and nobody sees it until its transaction is committed. */
export const usePrepare = (cluster: string, topic: string) =>
  useMutation({ mutationFn: (message: string) => api.post<PreparedMessage>(paths.prepareMessage(cluster, topic), message, { headers: JSON_HEADERS }) })
