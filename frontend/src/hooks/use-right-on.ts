import { queryOptions, useQueries, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AccessAnswer, AccessQuestion } from "@/lib/api-types"
import { type Right, useMe } from "./use-rights"

/** A right, and what it is needed on; without a name that is not chosen yet, or is no single thing. */
export interface Demand { right: Right; kind: "topic" | "group"; name: string | undefined }

const answerQuery = ({ right, kind, name = "" }: Demand, rights: readonly string[] = []) =>
  queryOptions({
    queryKey: ["me", "may", right, kind, name],
    queryFn: ({ signal }) => api.ask<AccessAnswer>(paths.accessCheck, { verb: right, kind, resource: name } satisfies AccessQuestion, signal),
    // Who has a right on nothing has it on no name either.
    enabled: name !== "" && rights.includes(right),
    staleTime: 60_000,
    retry: false,
  })

/** Whether the one who is signed in may do this to a topic or group; while the server has not told, whether to any. */
export function useMayOn(right: Right, kind: Demand["kind"], name: string | undefined): boolean {
  const rights = useMe()?.rights ?? []
  const answer = useQuery(answerQuery({ right, kind, name }, rights)).data
  return rights.includes(right) && answer?.allowed !== false
}

/** Which of these rights are missing, as far as that is known. */
export function useMissingRights(demands: readonly Demand[]): Demand[] {
  const rights = useMe()?.rights
  const answers = useQueries({ queries: demands.map((demand) => answerQuery(demand, rights)) })
  return rights ? demands.filter(({ right }, index) => !rights.includes(right) || answers[index]?.data?.allowed === false) : []
}
