import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { DefinitionsPlan } from "@/lib/api-types"
import type { GivenDefinitions } from "../given-definitions"

/** What a file would change; it changes nothing. */
export const useDiffDefinitions = () =>
  useMutation({ mutationFn: (given: GivenDefinitions) => api.post<DefinitionsPlan>(paths.definitionsDiff, given) })
