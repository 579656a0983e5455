import { describe, expect, it } from "vitest"

/** Every module of the console by its path from src/, as text. */
const sources = new Map(
  Object.entries(import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true }))
    .map(([path, text]) => [path.startsWith("./") ? `testing/${path.slice(2)}` : path.slice(3), text] as const)
    .filter(([path]) => !/\.test\.tsx?$|\.gen\.ts$/.test(path)),
)

const IMPORT = /^(?:import|export)\s(?!type\s)[^"]*?from\s+"([^"]+)"/gm

/** The modules that a module loads; types are gone by then. */
function importsOf(path: string): string[] {
  const found = [...(sources.get(path) ?? "").matchAll(IMPORT)].map(([, target = ""]) => target)
  return found.flatMap((target) => resolved(path, target) ?? [])
}

function resolved(from: string, target: string): string | null {
  if (!target.startsWith(".") && !target.startsWith("@/")) return null
  const base = target.startsWith("@/") ? target.slice(2) : new URL(target, `file:///${from}`).pathname.slice(1)
  return [base, `${base}.ts`, `${base}.tsx`, `${base}/index.ts`].find((path) => sources.has(path)) ?? null
}

/** The first circle of imports that is met, as a path; null when there is none. */
function circle(): string[] | null {
  const done = new Set<string>()
  const walk = (path: string, way: string[]): string[] | null => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return null
    for (const next of importsOf(path)) {
      const found = walk(next, [...way, path])
      if (found) return found
    }
    done.add(path)
    return null
  }
  for (const path of sources.keys()) {
    const found = walk(path, [])
    if (found) return found
  }
  return null
}

const callsOf = (text: string) => [...text.matchAll(/\bapi\.(get|ask|lines|post|patch|delete)(?:<[^(]*>)?\(\s*(paths\.\w+|\w+)/g)].map(([, verb = "", path = ""]) => `${verb} ${path}`)

const apiFiles = [...sources].filter(([path]) => /^features\/\w+\/api\//.test(path))

describe("the house of the console", () => {
  it("has no circle of imports", () => {
    expect(sources.size).toBeGreaterThan(200)
    expect(circle()).toBeNull()
  })

  it("has one file for one endpoint of the API", () => {
    // Signing in reads the cookie against cross-site requests first: one act of two requests.
    const crowded = apiFiles.filter(([path, text]) => new Set(callsOf(text)).size > 1 && path !== "features/auth/api/login.ts")
    expect(crowded.map(([path]) => path)).toEqual([])
  })

  it("sends no change from a file with a query: the cache sends a query again whenever it likes", () => {
    const mixed = [...sources].filter(([, text]) => /\buse(Infinite)?Query\(|\bqueryFn\b/.test(text) && /\bapi\.(post|patch|delete)\b/.test(text))
    expect(mixed.map(([path]) => path)).toEqual([])
  })

  it("talks to the API from the api folders of the features only", () => {
    const outside = [...sources].filter(([path, text]) => /^(features|app|components)\//.test(path) && !path.includes("/api/") && /\bapi\.\w+[<(]/.test(text))
    expect(outside.map(([path]) => path)).toEqual([])
  })
})
