import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Definitions } from "@/lib/api-types"

/** Reads all definitions, or those of one cluster with the console's own; once for each time that somebody asks. */
export const useReadDefinitions = () =>
  useMutation({ mutationFn: (cluster: string | undefined) => api.get<Definitions>(paths.definitions, { cluster }) })
