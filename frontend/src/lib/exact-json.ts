/** A number as it is written: it may be longer than a double, or end in zeros. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

/** The members of an object in their order, those of the same name too. */
export class ExactObject {
  constructor(readonly members: [name: string, value: unknown][]) {}
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+)/y
const MOST_LEVELS = 500

/** Reads JSON without touching its numbers or its repeated names; undefined for what is none, or too deep to draw. */
export function exactJson(text: string): unknown {
  let at = 0
  try {
    const value = read(0)
    return text.slice(at).trim() === "" ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }

  function next(): string {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)?.[1]
    if (found === undefined) throw new SyntaxError("the end")
    at = TOKEN.lastIndex
    return found
  }

  function peek(): string {
    const before = at
    const token = next()
    at = before
    return token
  }

  function read(level: number): unknown {
    if (level > MOST_LEVELS) throw new SyntaxError("too deep")
    const token = next()
    if (token === "[") return list(level)
    if (token === "{") return members(level)
    if (/^-?\d/.test(token)) return new ExactNumber(token)
    return JSON.parse(token) as unknown
  }

  function list(level: number): unknown[] {
    const found: unknown[] = []
    if (peek() === "]") {
      next()
      return found
    }
    do found.push(read(level + 1))
    while (next() === ",")
    return found
  }

  function members(level: number): ExactObject {
    const found: [string, unknown][] = []
    if (peek() === "}") {
      next()
      return new ExactObject(found)
    }
    do {
      const name = JSON.parse(next()) as string
      next()
      found.push([name, read(level + 1)])
    } while (next() === ",")
    return new ExactObject(found)
  }
}
