import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, asShownBy } from "@/lib/api-client"
import type { DefinitionsApplied } from "@/lib/api-types"
import type { GivenDefinitions } from "../given-definitions"

/** Makes the changes that the comparison showed; refused if something has changed since. */
export function useApplyDefinitions() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (given: GivenDefinitions) => api.post<DefinitionsApplied>(paths.definitionsApply, given, asShownBy(paths.definitionsDiff)),
    onSettled: () => void cache.invalidateQueries(),
  })
}
