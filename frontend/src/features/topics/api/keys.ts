export const topicKeys = {
  all: (cluster: string) => ["topics", cluster] as const,
  lists: (cluster: string) => ["topics", cluster, "list"] as const,
  list: (cluster: string, filter: object) => ["topics", cluster, "list", filter] as const,
  rates: (cluster: string) => ["topics", cluster, "rates"] as const,
  one: (cluster: string, topic: string) => ["topics", cluster, "one", topic] as const,
  part: (cluster: string, topic: string, part: string) => ["topics", cluster, "one", topic, part] as const,
}
