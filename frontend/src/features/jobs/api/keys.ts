export const jobKeys = {
  all: ["jobs"] as const,
  workers: ["jobs", "workers"] as const,
  lists: ["jobs", "list"] as const,
  list: (filter: object | null) => ["jobs", "list", filter] as const,
  one: (id: string) => ["jobs", "one", id] as const,
  artefacts: (id: string) => ["jobs", "artefacts", id] as const,
  log: (id: string) => ["jobs", "log", id] as const,
  progress: (id: string) => ["jobs", "progress", id] as const,
  report: (id: string) => ["jobs", "report", id] as const,
}
