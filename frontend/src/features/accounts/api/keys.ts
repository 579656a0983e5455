export const accountKeys = {
  tokens: ["tokens"] as const,
  users: ["users"] as const,
  roles: ["roles"] as const,
  sessions: ["sessions"] as const,
}
