import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core"
import { IconMoon, IconSun } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import classes from "./shell.module.css"

export function ThemeButton() {
  const { t } = useTranslation()
  const scheme = useComputedColorScheme("light")
  const { setColorScheme } = useMantineColorScheme()
  const Icon = scheme === "dark" ? IconMoon : IconSun
  return (
    <Tooltip label={t("theme.change")}>
      <ActionIcon
        className={classes.onlyWide ?? ""}
        aria-label={t("theme.change")}
        onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}
      >
        <Icon size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}
