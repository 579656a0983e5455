export const offsetKeys = {
  snapshots: (cluster: string, group: string) => ["offsets", cluster, group, "snapshots"] as const,
}
