import { useTranslation } from "react-i18next"
import { chooseLanguage } from "@/lib/i18n"
import type { Language } from "@/lib/preferences"
import { toastFailed } from "./toast"

/** Changes the language; says so when its words cannot be loaded, and stays with the one that is there. */
export function useChooseLanguage(): (language: Language) => void {
  const { t } = useTranslation()
  return (language) => void chooseLanguage(language).catch((error: unknown) => toastFailed(t("language.failed"), error))
}
