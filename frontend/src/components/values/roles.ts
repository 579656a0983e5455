import type { TFunction } from "i18next"
import type { User } from "@/lib/api-types"

/** The roles of a user as they are called here: the built-in one in words, the others by the names they were given. */
export const namesOfRoles = (t: TFunction, { role, own_roles }: Pick<User, "role" | "own_roles">): string[] => [
  ...(role ? [t(`access.roles.${role}`)] : []),
  ...own_roles,
]
