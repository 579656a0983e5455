import { ActionIcon } from "@mantine/core"
import { IconMenu2, IconSearch } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Logo } from "@/components/brand/logo"
import { JobsTray } from "@/features/jobs/components/jobs-tray"
import { Breadcrumbs } from "./breadcrumbs"
import { ConnectionBadge } from "./connection-badge"
import { LanguageMenu } from "./language-menu"
import { openPalette } from "./palette-door"
import classes from "./shell.module.css"
import { ThemeButton } from "./theme-button"
import { UserMenu } from "./user-menu"
import { ZoneMenu } from "./zone-menu"

const KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ K" : "Ctrl K"

export function Topbar({ onMenu }: { onMenu: () => void }) {
  const { t } = useTranslation()
  return (
    <header className={classes.topbar}>
      <span className={classes.burger}>
        <ActionIcon aria-label={t("nav.label")} onClick={onMenu}>
          <IconMenu2 size={19} stroke={1.6} />
        </ActionIcon>
        <Logo size={20} />
      </span>
      <Breadcrumbs />
      <button type="button" className={classes.search} onClick={openPalette}>
        <IconSearch size={15} stroke={1.6} aria-hidden />
        <span>{t("palette.open")}</span>{" "}
        <kbd>{KEYS}</kbd>
      </button>
      <JobsTray />
      <span className={`${classes.rule} ${classes.onlyWide}`} />
      <div className={classes.tools}>
        <ConnectionBadge />
        <ZoneMenu />
        <LanguageMenu />
        <ThemeButton />
        <UserMenu />
      </div>
    </header>
  )
}
