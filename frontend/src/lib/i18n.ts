import i18next from "i18next"
import { initReactI18next } from "react-i18next"
import { type Language, languagePreference } from "@/lib/preferences"
import type { en as english } from "@/locales/en"


declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation"
    resources: { translation: typeof english }
  }
}

/** A browser loads the words of one language only. */
const load: Record<Language, () => Promise<object>> = {
  en: async () => (await import("@/locales/en")).en,
  zh: async () => (await import("@/locales/zh")).zh,
}

export const languages: Record<Language, string> = { en: "English", zh: "中文" }

function firstLanguage(): Language {
  return languagePreference.get() ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en")
}

export async function startTranslations(language: Language = firstLanguage()): Promise<typeof i18next> {
  i18next.on("languageChanged", (next) => {
    document.documentElement.lang = next === "zh" ? "zh-CN" : "en"
  })
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: { translation: await load[language]() } },
    interpolation: { escapeValue: false },
    initAsync: false,
  })
  return i18next
}

export async function chooseLanguage(language: Language): Promise<void> {
  const words = await load[language]()
  i18next.addResourceBundle(language, "translation", words)
  languagePreference.set(language)
  await i18next.changeLanguage(language)
}
