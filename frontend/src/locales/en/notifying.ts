export const notifying = {
  notifying: {
    label: "Notify",
    words: "alert channels that are told of its end; nobody if empty",
    none: "There is no alert channel yet; Alerts → Channels has them",
    failed: "The alert channels could not be read",
    off: "{{name}} (switched off)",
    gone: "{{id}} (deleted)",
    ends: "Of these ends",
    endsWords: "at least one; without channels nobody is told",
  },
}
