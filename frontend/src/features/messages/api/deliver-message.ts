import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Delivered, DeliverInput } from "@/lib/api-types"

/** Hands it to one client, whose result is the answer; no offset moves. */
export const useDeliverMessage = (cluster: string, id: string) =>
  useMutation({ mutationFn: (input: DeliverInput) => api.post<Delivered>(paths.messageDeliver(cluster, id), input) })
