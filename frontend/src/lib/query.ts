import { type DefaultedQueryObserverOptions, type Query, QueryClient, type QueryKey, type QueryObserverOptions } from "@tanstack/react-query"
import { leastRefreshMs } from "@/lib/preferences"
import { Problem } from "@/lib/problem"

/** A refusal stays a refusal; only what may pass by itself is tried again. */
const mayPass = (count: number, error: Error) => count < 2 && error instanceof Problem && error.retryable

/** The time until a query is read again, where somebody chose to be told less often. */
function paced(ms: number | false | undefined): number | false | undefined {
  const least = leastRefreshMs()
  if (ms === false || ms === undefined || least === 0) return ms
  return least === Infinity ? false : Math.max(ms, least)
}

/** Keeps every `refetchInterval` at the pace that was chosen in this browser. */
class PacedQueryClient extends QueryClient {
  override defaultQueryOptions<A, B, C, D, K extends QueryKey, P>(
    options: QueryObserverOptions<A, B, C, D, K, P> | DefaultedQueryObserverOptions<A, B, C, D, K>,
  ): DefaultedQueryObserverOptions<A, B, C, D, K> {
    const all = super.defaultQueryOptions(options)
    const given = all.refetchInterval
    if (given === undefined || given === false) return all
    return { ...all, refetchInterval: (query) => paced(typeof given === "function" ? given(query) : given) }
  }
}

/** Whether a query is read again by itself. */
export const isRefreshed = (query: Query): boolean => query.observers.some(({ options }) => options.refetchInterval !== undefined && options.refetchInterval !== false)

export const createQueryClient = () =>
  new PacedQueryClient({
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
