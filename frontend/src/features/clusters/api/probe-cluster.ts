import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ProbeInput, ProbeReport } from "@/lib/api-types"

/** Tries a connection; only reads. */
export const useProbe = () =>
  useMutation({ mutationFn: (input: ProbeInput) => api.post<ProbeReport>(paths.clusterProbe, input) })
