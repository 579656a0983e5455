import i18next from "i18next"
import { initReactI18next } from "react-i18next"
import { type Language, languagePreference } from "@/lib/preferences"
import { learnRefusals } from "@/lib/reasons"
import type { first as firstWords } from "@/locales/en/first"
import type { rest as restOfWords } from "@/locales/en/rest"

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation"
    resources: { translation: typeof firstWords & typeof restOfWords }
  }
}

/** A browser loads the words of one language only, and those of the first page before all others. */
const load: Record<Language, { first: () => Promise<object>; rest: () => Promise<object> }> = {
  en: { first: async () => (await import("@/locales/en/first")).first, rest: async () => (await import("@/locales/en/rest")).rest },
  zh: { first: async () => (await import("@/locales/zh/first")).first, rest: async () => (await import("@/locales/zh/rest")).rest },
}

export const languages: Record<Language, string> = { en: "English", zh: "中文" }

/** What a browser keeps or speaks may be any language, or none. */
const languageOf = (kept: unknown): Language => (String(kept).toLowerCase().startsWith("zh") ? "zh" : "en")

const firstLanguage = (): Language => languageOf(languagePreference.get() ?? navigator.language)

/** Begin with the words of the first page; `allWords` brings the others. */
export async function startTranslations(language: Language = firstLanguage()): Promise<typeof i18next> {
  i18next.on("languageChanged", (next) => {
    document.documentElement.lang = next === "zh" ? "zh-CN" : "en"
  })
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: { translation: await load[language].first() } },
    interpolation: { escapeValue: false },
    initAsync: false,
  })
  return i18next
}

/** What is loaded, with all words that it may show. */
export async function withAllWords<Loaded>(loading: Promise<Loaded>): Promise<Loaded> {
  const [loaded] = await Promise.all([loading, allWords()])
  return loaded
}

/** All words of the chosen language. */
export const allWords = () => addRest(i18next.language === "zh" ? "zh" : "en")

async function addRest(language: Language): Promise<void> {
  const [words, { DETAILS }, { JOB_REFUSALS }, { decisionIn }] = await Promise.all([load[language].rest(), import("@/lib/refusals"), import("@/lib/job-refusals"), import("@/lib/decisions")])
  learnRefusals(DETAILS, JOB_REFUSALS, decisionIn)
  i18next.addResourceBundle(language, "translation", words)
}

export async function chooseLanguage(language: Language): Promise<void> {
  const [first] = await Promise.all([load[language].first(), addRest(language)])
  i18next.addResourceBundle(language, "translation", first)
  languagePreference.set(language)
  await i18next.changeLanguage(language)
}
