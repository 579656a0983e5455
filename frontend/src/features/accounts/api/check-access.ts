import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AccessAnswer, AccessQuestion } from "@/lib/api-types"
import { accountKeys } from "./keys"

/** Whether somebody may do something; asked again as the question changes. Null asks nothing. */
export const useAccessAnswer = (question: AccessQuestion | null) =>
  useQuery({
    queryKey: [...accountKeys.answers, question],
    queryFn: ({ signal }) => api.ask<AccessAnswer>(paths.accessCheck, question, signal),
    enabled: question !== null,
    placeholderData: keepPreviousData,
  })
