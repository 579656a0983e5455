import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OpenSession, Page } from "@/lib/api-types"
import { accountKeys } from "./keys"

/** One's own open sessions, or those of everybody. */
export const useSessions = (everybody: boolean) =>
  useQuery({
    queryKey: [...accountKeys.sessions, everybody],
    queryFn: ({ signal }) => api.get<Page<OpenSession>>(everybody ? paths.sessions : paths.mySessions, { limit: 500 }, signal),
    select: ({ items }) => items,
  })
