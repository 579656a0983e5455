/** A file of definitions as the API takes it, and the cluster that its topics and groups belong to. */
export interface GivenDefinitions {
  definitions: unknown
  cluster?: string
}

/** What the text of a file holds; the fault is that of the reader of JSON. */
export type ReadFile = { definitions: unknown } | { fault: string }

export function readDefinitions(text: string): ReadFile {
  try {
    return { definitions: JSON.parse(text) as unknown }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** A value of a field, short and unmistakable: text stands without quotes, all else as JSON. */
export const valueWords = (value: unknown): string => (value === null || value === undefined ? "—" : typeof value === "string" ? value : JSON.stringify(value))
