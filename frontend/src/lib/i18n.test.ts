import { afterEach, expect, it, vi } from "vitest"
import { chooseLanguage, startTranslations } from "./i18n"
import { type Language, languagePreference } from "./preferences"

afterEach(async () => {
  languagePreference.set(null)
  await startTranslations("en")
})

it.each([
  ["zh-CN", "zh"],
  ["ZH", "zh"],
  ["de-DE", "en"],
  ["en-GB", "en"],
])("speaks to a browser of %s in %s, until somebody chooses", async (browser, language) => {
  vi.spyOn(navigator, "language", "get").mockReturnValue(browser)
  expect((await startTranslations()).language).toBe(language)
})

it("keeps the choice against the browser's own language", async () => {
  vi.spyOn(navigator, "language", "get").mockReturnValue("zh-CN")
  await chooseLanguage("en")
  expect((await startTranslations()).language).toBe("en")
  expect(JSON.parse(localStorage.getItem("gantry.language") ?? "null")).toBe("en")
})

it.each([
  ["zh-CN", "zh"],
  ["fr", "en"],
  [7, "en"],
])("takes a kept %s that is no language of the console for %s", async (kept, language) => {
  languagePreference.set(kept as Language)
  const i18n = await startTranslations()
  expect(i18n.language).toBe(language)
  expect(i18n.t("actions.cancel")).not.toBe("actions.cancel")
})

it("tells the page its language, so that it is read aloud and broken into lines as such", async () => {
  const i18n = await startTranslations("en")
  await chooseLanguage("zh")
  expect(document.documentElement.lang).toBe("zh-CN")
  expect(i18n.t("actions.cancel")).toBe("取消")
  await chooseLanguage("en")
  expect(document.documentElement.lang).toBe("en")
  expect(i18n.t("actions.cancel")).toBe("Cancel")
})
