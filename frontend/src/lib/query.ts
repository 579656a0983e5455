import { QueryClient } from "@tanstack/react-query"
import { Problem } from "@/lib/problem"

/** A refusal stays a refusal; only what may pass by itself is tried again. */
const mayPass = (count: number, error: Error) => count < 2 && error instanceof Problem && error.retryable

export const createQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        gcTime: 5 * 60_000,
        retry: mayPass,
        retryDelay: (attempt) => 500 * 2 ** attempt,
        refetchOnWindowFocus: true,
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  })
