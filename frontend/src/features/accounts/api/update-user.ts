import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { User } from "@/lib/api-types"
import { useUserChange } from "./use-user-change"

/** Roles, or a password; with a password the user's tokens can be revoked at once. */
type UserChange = Pick<User, "role" | "own_roles"> | { password: string; revoke_tokens: boolean }

export const useUpdateUser = (id: number) => useUserChange((change: UserChange) => api.patch<User>(paths.user(id), change))
