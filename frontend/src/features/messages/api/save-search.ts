import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { SavedSearch, SavedSearchInput } from "@/lib/api-types"
import { useSavedSearchChange } from "./use-saved-search-change"

export const useSaveSearch = () => useSavedSearchChange((input: SavedSearchInput) => api.post<SavedSearch>(paths.savedSearches, input))
