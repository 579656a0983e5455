import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ApiDocument } from "../document"

/** The OpenAPI document of this gateway; it changes only with its version. */
export const useApiDocument = () =>
  useQuery({
    queryKey: ["openapi"],
    queryFn: ({ signal }) => api.get<ApiDocument>(paths.openapi, undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
