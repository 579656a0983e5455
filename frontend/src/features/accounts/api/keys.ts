export const accountKeys = {
  tokens: ["tokens"] as const,
  users: ["users"] as const,
  roles: ["roles"] as const,
  /** Who may do what: it follows from users and roles. */
  answers: ["access"] as const,
  sessions: ["sessions"] as const,
}
