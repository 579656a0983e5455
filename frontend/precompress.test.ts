import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { precompress } from "./precompress"

it("puts compressed forms beside every text of the build that is worth it", () => {
  const root = mkdtempSync(join(tmpdir(), "precompress-"))
  const assets = join(root, "dist", "assets")
  mkdirSync(assets, { recursive: true })
  const text = "const a = 1\n".repeat(500)
  for (const name of ["index.js", "font.woff2"]) writeFileSync(join(assets, name), text)
  writeFileSync(join(assets, "tiny.css"), "a{}")
  const plugin = precompress() as unknown as { configResolved: (config: object) => void; closeBundle: () => void }
  plugin.configResolved({ root, build: { outDir: "dist" } })
  plugin.closeBundle()
  expect(readdirSync(assets).sort()).toEqual(["font.woff2", "index.js", "index.js.br", "index.js.gz", "tiny.css"])
  expect(brotliDecompressSync(readFileSync(join(assets, "index.js.br"))).toString()).toBe(text)
  expect(gunzipSync(readFileSync(join(assets, "index.js.gz"))).toString()).toBe(text)
  rmSync(root, { recursive: true })
})
