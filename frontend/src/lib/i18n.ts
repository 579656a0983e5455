import i18next from "i18next"
import { initReactI18next } from "react-i18next"
import { type Language, languagePreference } from "@/lib/preferences"
import { en } from "@/locales/en"
import { zh } from "@/locales/zh"

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation"
    resources: { translation: typeof en }
  }
}

export const languages: Record<Language, string> = { en: "English", zh: "中文" }

function firstLanguage(): Language {
  return languagePreference.get() ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en")
}

export function startTranslations(language: Language = firstLanguage()): typeof i18next {
  i18next.on("languageChanged", (next) => {
    document.documentElement.lang = next === "zh" ? "zh-CN" : "en"
  })
  void i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    resources: { en: { translation: en }, zh: { translation: zh } },
    interpolation: { escapeValue: false },
    initAsync: false,
  })
  return i18next
}

export function chooseLanguage(language: Language): void {
  languagePreference.set(language)
  void i18next.changeLanguage(language)
}
