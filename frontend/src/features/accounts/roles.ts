export const ROLES = ["admin", "operator", "developer", "viewer"] as const

type BuiltIn = (typeof ROLES)[number]
const isBuiltIn = (name: string): name is BuiltIn => ROLES.some((each) => each === name)

/** The chosen roles as the API takes them; each built-in one contains the smaller ones, so the last one chosen stays. */
export const rolesOf = (names: readonly string[]): { role: BuiltIn | null; own_roles: string[] } => ({
  role: names.filter(isBuiltIn).at(-1) ?? null,
  own_roles: names.filter((name) => !isBuiltIn(name)),
})
