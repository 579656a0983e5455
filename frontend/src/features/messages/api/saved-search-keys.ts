export const savedSearchKey = ["saved-searches"] as const
