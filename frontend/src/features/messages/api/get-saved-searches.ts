import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { SavedSearchList } from "@/lib/api-types"
import { savedSearchKey } from "./saved-search-keys"

export const useSavedSearches = () =>
  useQuery({
    queryKey: savedSearchKey,
    queryFn: async ({ signal }) => {
      const list = await api.get<SavedSearchList>(paths.savedSearches, undefined, signal)
      keepTags(list.items, ({ id }) => paths.savedSearch(id))
      return list
    },
  })
