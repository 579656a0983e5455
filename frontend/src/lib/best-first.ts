/** Names that contain the words: the very name first, then those that begin with it, then the others as they came. */
export function bestFirst<T>(items: readonly T[], words: string, nameOf: (item: T) => string): T[] {
  const wanted = words.trim().toLowerCase()
  const rank = (item: T) => {
    const name = nameOf(item)
    if (name === words.trim()) return 0
    const lower = name.toLowerCase()
    return lower === wanted ? 1 : lower.startsWith(wanted) ? 2 : 3
  }
  return items.filter((item) => nameOf(item).toLowerCase().includes(wanted)).sort((a, b) => rank(a) - rank(b))
}
