import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useSavedSearchChange } from "./use-saved-search-change"

export const useDeleteSavedSearch = () => useSavedSearchChange((id: number) => api.delete(paths.savedSearch(id)))
