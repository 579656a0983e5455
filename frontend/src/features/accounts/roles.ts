export const ROLES = ["admin", "operator", "developer", "viewer"] as const
