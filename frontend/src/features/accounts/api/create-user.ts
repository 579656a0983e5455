import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { User, UserInput } from "@/lib/api-types"
import { useUserChange } from "./use-user-change"

export const useCreateUser = () => useUserChange((input: UserInput) => api.post<User>(paths.users, input))
