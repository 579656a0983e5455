/** The most minutes that the API takes as a limit of a job: a year. */
export const MOST_MINUTES = 525_600
