import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { en } from "./en"
import { zh } from "./zh"

interface Tree {
  [key: string]: string | Tree
}

function flat(tree: Tree, prefix = ""): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string") found.set(`${prefix}${key}`, value)
    else for (const [inner, text] of flat(value, `${prefix}${key}.`)) found.set(inner, text)
  }
  return found
}

const english = flat(en as unknown as Tree)
const chinese = flat(zh as unknown as Tree)
const withoutSingular = [...english.keys()].filter((key) => !key.endsWith("_one"))
const placeholders = (text = "") => [...text.matchAll(/\{\{(\w+)/g)].map(([, name]) => name).sort()

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const inner = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === "locales" || entry.name === "testing" ? [] : sources(inner)
    return /\.tsx?$/.test(entry.name) && !entry.name.includes(".test.") ? [inner] : []
  })
}

const code = sources(path.resolve(import.meta.dirname, "..")).map((file) => ({ file, text: readFileSync(file, "utf8") }))

describe("the two catalogues", () => {
  it("hold the same keys", () => {
    expect([...chinese.keys()].sort()).toEqual(withoutSingular.sort())
  })

  it("fill the same places", () => {
    const other = withoutSingular.filter((key) => String(placeholders(chinese.get(key))) !== String(placeholders(english.get(key))))
    expect(other).toEqual([])
  })

  it("write Chinese without the polite forms and with full-width punctuation", () => {
    const wrong = [...chinese].filter(([key, text]) => (key !== "produce.unknownNext" && /[您请]/.test(text.replaceAll(/请求|申请/g, ""))) || /[一-鿿][,!?;]/.test(text))
    expect(wrong).toEqual([])
  })

  it("write English without shouting or begging", () => {
    expect([...english.values()].filter((text) => /!(?!=)|\bplease\b|successfully|oops/i.test(text))).toEqual([])
  })
})

describe("the source", () => {
  it("asks only for keys that exist", () => {
    const asked = code.flatMap(({ file, text }) =>
      [...text.matchAll(/\bt\(\s*"([\w.]+)"/g), ...text.matchAll(/i18nKey="([\w.]+)"/g)].map(([, key = ""]) => ({ file, key })),
    )
    const missing = asked.filter(({ key }) => !english.has(key) && !english.has(`${key}_other`))
    expect(asked.length).toBeGreaterThan(200)
    expect(missing).toEqual([])
  })

  it("uses every key of the catalogue", () => {
    const all = code.map(({ text }) => text).join("\n")
    const patterns = [...all.matchAll(/`([\w.]+\.)\$\{/g)].map(([, prefix = ""]) => prefix)
    const unused = withoutSingular
      .map((key) => key.replace(/_(other|zero)$/, ""))
      .filter((key) => !all.includes(`"${key}"`) && !patterns.some((prefix) => key.startsWith(prefix)))
    expect(unused).toEqual([])
  })

  it("has no words of its own between tags", () => {
    const literal = code.flatMap(({ file, text }) =>
      file.endsWith(".tsx")
        ? [...text.matchAll(/>\s*([A-Z][a-z]+ [a-z]+[^<{}]*)</g)].map(([, words = ""]) => `${path.basename(file)}: ${words}`)
        : [],
    )
    expect(literal).toEqual([])
  })
})
