export const scheduledKeys = {
  all: ["scheduled"] as const,
  summary: (cluster: string, from: string) => ["scheduled", cluster, "summary", from] as const,
  list: (cluster: string, wanted: string) => ["scheduled", cluster, "list", wanted] as const,
  message: (cluster: string, id: string) => ["scheduled", cluster, "message", id] as const,
  delivered: (cluster: string, id: string) => ["scheduled", cluster, "delivered", id] as const,
}
