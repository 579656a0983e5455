export const accountKeys = {
  all: (cluster: string) => ["clusters", cluster, "broker-accounts"] as const,
}
