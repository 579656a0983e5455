export const transactionKeys = {
  all: ["transactions"] as const,
  list: (cluster: string, wanted: string) => ["transactions", cluster, "list", wanted] as const,
  one: (cluster: string, id: string) => ["transactions", cluster, "one", id] as const,
}
