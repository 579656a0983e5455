import type { TFunction } from "i18next"
import type { User } from "@/lib/api-types"

/** A role as it is called here: a built-in one in words, any other by the name that it was given. */
export const nameOfRole = (t: TFunction, name: string): string => t(`access.roles.${name}` as "access.roles.admin", { defaultValue: name })

/** The roles of a user, each as it is called here. */
export const namesOfRoles = (t: TFunction, { role, own_roles }: Pick<User, "role" | "own_roles">): string[] =>
  [...(role ? [role] : []), ...own_roles].map((name) => nameOfRole(t, name))
