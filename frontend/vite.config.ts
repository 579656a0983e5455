import { fileURLToPath } from "node:url"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vitest/config"
import { precompress } from "./precompress.ts"

const gateway = process.env.GANTRY_HTTP ?? "http://127.0.0.1:8000"
const proxy = {
  "/api": { target: gateway },
  "/docs": { target: gateway },
  "/healthz": { target: gateway },
  "/ws": { target: gateway, ws: true },
}

export default defineConfig({
  plugins: [react(), precompress()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { port: 5173, proxy },
  preview: { port: 4173, proxy },
  // The gateway puts the base path of its proxy before these addresses.
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 2048,
    chunkSizeWarningLimit: 700,
    // A test adds up by it what a browser loads first.
    manifest: true,
    // What every page loads comes in one file: a request for each shared module took longer than its bytes.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "shared", tags: ["$initial"], test: /^(?!.*(?:index\.html|src.main\.tsx)$)/, priority: 1 }, { name: "common", minShareCount: 16 }] } } },
  },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    css: false,
    restoreMocks: true,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: "threads",
    isolate: false,
  },
})
