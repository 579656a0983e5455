import { notifications } from "@mantine/notifications"
import { cleanup, configure } from "@testing-library/react"
import i18next from "i18next"
import * as React from "react"
import { afterEach, beforeEach, vi } from "vitest"
import { decisionIn } from "@/lib/decisions"
import { JOB_REFUSALS } from "@/lib/job-refusals"
import { live } from "@/lib/live"
import { DETAILS } from "@/lib/refusals"
import { learnRefusals } from "@/lib/reasons"
import { en } from "@/locales/en"
import { zh } from "@/locales/zh"
import { forgetAnswers } from "./server"
import { ownStyle } from "./style"

/** A canvas cannot be drawn on here; charts only keep what they were given. */
vi.mock("uplot", () => ({
  default: class {
    static paths = {}
    width = 0
    height = 0
    setData(): void {
      this.width = 1
    }
    setSize(): void {
      this.width = 1
    }
    redraw(): void {
      this.width = 1
    }
    destroy(): void {
      this.width = 0
    }
  },
}))

// Slow machines are slow, not wrong.
configure({ asyncUtilTimeout: 60_000, getElementError: (message) => new Error(message ?? "not found") })

// React keeps of each element where it was made, to say so in its warnings: a seventh of what all tests cost. It leaves
// that out for a while when it has done so often.
const internals = "__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE"
Object.defineProperty((React as unknown as Record<string, object>)[internals], "recentlyCreatedOwnerStacks", {
  configurable: true,
  get: () => Infinity,
  set: () => undefined,
})

class StillObserver {
  observe(): void {
    // Nothing changes its size here.
  }
  unobserve(): void {
    // Nothing changes its size here.
  }
  disconnect(): void {
    // Nothing changes its size here.
  }
}

vi.stubGlobal("ResizeObserver", StillObserver)
Object.defineProperty(document, "fonts", {
  configurable: true,
  value: { ready: Promise.resolve(), addEventListener: () => undefined, removeEventListener: () => undefined },
})
Object.defineProperty(HTMLElement.prototype, "offsetHeight", { configurable: true, get: () => 800 })
Object.defineProperty(HTMLElement.prototype, "offsetWidth", { configurable: true, get: () => 1200 })
Object.defineProperty(Element.prototype, "clientHeight", { configurable: true, get: () => 800 })
Object.defineProperty(Element.prototype, "clientWidth", { configurable: true, get: () => 1200 })
HTMLElement.prototype.scrollIntoView = () => undefined
window.scrollTo = () => undefined
window.getComputedStyle = ownStyle

learnRefusals(DETAILS, JOB_REFUSALS, decisionIn)

/** A wide screen without wishes. */
window.matchMedia = (query: string) =>
  ({
    matches: query.includes("min-width"),
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }) as unknown as MediaQueryList

/** i18next copies all words that it is given. */
function addMissing(language: string, words: object): void {
  const known = (i18next.getResourceBundle(language, "translation") ?? {}) as object
  if (!Object.keys(words).every((key) => key in known)) i18next.addResourceBundle(language, "translation", words)
}

beforeEach(() => {
  // Tests change the language in one step; and files share their modules: one of them may have begun with one language.
  if (i18next.isInitialized) for (const [language, words] of Object.entries({ en, zh })) addMissing(language, words)
  localStorage.clear()
  document.cookie = "csrftoken=kept-secret"
})

afterEach(async () => {
  cleanup()
  // Files share their modules: the language that one test chose would be the next file's.
  if (i18next.isInitialized && i18next.language !== "en") await i18next.changeLanguage("en")
  // Errors stay until somebody closes them, and only so many are shown at a time: those of one test would hide the next one's.
  notifications.cleanQueue()
  notifications.clean()
  live.close()
  forgetAnswers()
})
