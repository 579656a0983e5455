export const offsetKeys = {
  snapshots: (cluster: string, group: string) => ["offsets", cluster, group, "snapshots"] as const,
  undo: (cluster: string, group: string, snapshot: string) => ["offsets", cluster, group, "undo", snapshot] as const,
}
