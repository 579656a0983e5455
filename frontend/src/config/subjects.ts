/** What can be watched on the live channel. */
export const subjects = {
  overview: (cluster: string) => `overview:${cluster}`,
  topics: (cluster: string) => `topics:${cluster}`,
  groups: (cluster: string) => `groups:${cluster}`,
  group: (cluster: string, group: string) => `group:${cluster}:${group}`,
  replicas: (cluster: string, broker: string) => `replicas:${cluster}:${broker}`,
  controllers: (cluster: string) => `controllers:${cluster}`,
  jobs: "jobs",
  job: (id: string) => `job:${id}`,
} as const
