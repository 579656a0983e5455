export const accountKeys = {
  tokens: ["tokens"] as const,
  users: ["users"] as const,
}
