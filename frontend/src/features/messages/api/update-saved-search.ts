import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { SavedSearch, SavedSearchInput } from "@/lib/api-types"
import { useSavedSearchChange } from "./use-saved-search-change"

export const useUpdateSavedSearch = () =>
  useSavedSearchChange(({ id, query }: { id: number; query: SavedSearchInput["query"] }) => api.patch<SavedSearch>(paths.savedSearch(id), { query }))
