export const groupKeys = {
  all: (cluster: string) => ["groups", cluster] as const,
  lists: (cluster: string) => ["groups", cluster, "list"] as const,
  list: (cluster: string, filter: object) => ["groups", cluster, "list", filter] as const,
  one: (cluster: string, group: string) => ["groups", cluster, "one", group] as const,
  part: (cluster: string, group: string, part: string) => ["groups", cluster, "one", group, part] as const,
}
