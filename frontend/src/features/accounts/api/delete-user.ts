import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useUserChange } from "./use-user-change"

export const useDeleteUser = () => useUserChange((id: number) => api.delete(paths.user(id)))
