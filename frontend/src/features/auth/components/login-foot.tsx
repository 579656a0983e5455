import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core"
import { IconLanguage, IconMoon, IconSun } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useChooseLanguage } from "@/components/toast/use-choose-language"
import { env } from "@/config/env"
import { useLanguage } from "@/hooks/use-format"
import classes from "./login.module.css"

export function LoginFoot() {
  const { t } = useTranslation()
  const language = useLanguage()
  const choose = useChooseLanguage()
  const scheme = useComputedColorScheme("light")
  const { setColorScheme } = useMantineColorScheme()
  const SchemeIcon = scheme === "dark" ? IconMoon : IconSun
  return (
    <div className={classes.foot}>
      <button type="button" onClick={() => choose(language === "en" ? "zh" : "en")}>
        <IconLanguage size={14} stroke={1.6} aria-hidden />
        English · 中文
      </button>
      <button type="button" onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}>
        <SchemeIcon size={14} stroke={1.6} aria-hidden />
        {t(`theme.${scheme}`)}
      </button>
      <span>Gantry {env.version}</span>
    </div>
  )
}
