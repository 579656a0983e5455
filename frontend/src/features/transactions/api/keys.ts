export const transactionKeys = {
  all: ["transactions"] as const,
  list: (cluster: string, wanted: string) => ["transactions", cluster, "list", wanted] as const,
  one: (cluster: string, id: string) => ["transactions", cluster, "one", id] as const,
  hooks: (cluster: string) => ["transactions", cluster, "hooks"] as const,
}
