import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ResendInput, Resent } from "@/lib/api-types"

/** Stores a copy; the original stays. */
export const useResendMessage = (cluster: string, id: string) =>
  useMutation({ mutationFn: (input: ResendInput) => api.post<Resent>(paths.messageResend(cluster, id), input) })
