const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Rights that have no name to be narrowed by. */
const WHOLE = new Set(["admin", "jobs"])

/**
 * The scopes of a token: each right on each pattern of names, and for consuming with which groups: `consume:orders@billing`.
 * Empty texts narrow nothing.
 */
export function scopesOf(verbs: readonly string[], topics: string, groups: string): string[] {
  const patterns = words(topics)
  const readers = words(groups)
  return verbs.flatMap((verb) => {
    if (verb === "consume" && readers.length > 0) {
      return (patterns.length > 0 ? patterns : ["*"]).flatMap((topic) => readers.map((group) => `consume:${topic}@${group}`))
    }
    return WHOLE.has(verb) || patterns.length === 0 ? [verb] : patterns.map((pattern) => `${verb}:${pattern}`)
  })
}
