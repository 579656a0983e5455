export const jobPages = {
  jobPages: {
    topic: "Topic, its whole name",
    group: "Group, its whole name",
    by: "Started by, user name",
    ofSchedule: "All its jobs",
    schedule: "Schedule",
    anySchedule: "Any schedule",
    from: "Created from",
    to: "Created before",
    more_one: "More filters ({{count}} set)",
    more_other: "More filters ({{count}} set)",
    moreNone: "More filters",
    fewer: "Fewer filters",
    noMatchNext: "Take a filter back, or show all.",
    showAll: "Show all",
  },
}
