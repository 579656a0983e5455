import { Menu } from "@mantine/core"
import { IconLanguage } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useChooseLanguage } from "@/components/toast/use-choose-language"
import { useLanguage } from "@/hooks/use-format"
import { languages } from "@/lib/i18n"
import type { Language } from "@/lib/preferences"
import classes from "./shell.module.css"

export function LanguageMenu() {
  const { t } = useTranslation()
  const language = useLanguage()
  const choose = useChooseLanguage()
  const short = language === "zh" ? "中" : "EN"
  return (
    <Menu>
      <Menu.Target>
        <button type="button" className={`${classes.tool} ${classes.onlyWide}`} aria-label={`${t("language.label")} ${short}`} title={t("language.label")}>
          <IconLanguage size={16} stroke={1.6} aria-hidden />
          {short}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(languages) as Language[]).map((name) => (
          <Menu.Item key={name} lang={name} onClick={() => choose(name)}>
            {languages[name]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
