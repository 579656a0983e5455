export const deadLetterKeys = {
  all: ["dead-letters"] as const,
  groups: (cluster: string) => ["dead-letters", cluster, "groups"] as const,
  causes: (cluster: string, group: string) => ["dead-letters", cluster, "causes", group] as const,
  letters: (cluster: string, group: string, cause: string) => ["dead-letters", cluster, "letters", group, cause] as const,
  clients: (cluster: string, group: string) => ["dead-letters", cluster, "clients", group] as const,
  preview: (cluster: string, group: string, asked: string) => ["dead-letters", cluster, "preview", group, asked] as const,
  redrives: ["dead-letters", "redrives"] as const,
  outcomes: (cluster: string, group: string, job: string, outcome: string) => ["dead-letters", cluster, "outcomes", group, job, outcome] as const,
}
