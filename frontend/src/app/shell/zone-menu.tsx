import { Menu, Select } from "@mantine/core"
import { IconCheck, IconWorld } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { useZone } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { zonePreference } from "@/lib/preferences"
import { browserZone, zoneLabel } from "@/lib/time"
import classes from "./shell.module.css"

/** The zone in which all times are written; any IANA name. Kept in this browser and in shared links. */
export function ZoneMenu() {
  const { t } = useTranslation()
  const zone = useZone()
  const [, change] = useUrlState()
  const names = useMemo(() => Intl.supportedValuesOf("timeZone"), [])
  const choose = (next: string) => {
    zonePreference.set(next)
    change({ zone: next === "browser" ? undefined : next })
  }
  const tick = (name: string) => (zone === name ? <IconCheck size={14} stroke={1.8} /> : undefined)
  return (
    <Menu width={250}>
      <Menu.Target>
        <button type="button" className={`${classes.tool} ${classes.onlyWide}`} aria-label={`${t("zone.label")} ${zoneLabel(zone)}`} title={t("zone.label")}>
          <IconWorld size={16} stroke={1.6} aria-hidden />
          {zoneLabel(zone)}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item rightSection={tick("browser")} onClick={() => choose("browser")}>
          {t("zone.browser", { zone: browserZone() })}
        </Menu.Item>
        <Menu.Item rightSection={tick("UTC")} onClick={() => choose("UTC")}>
          UTC
        </Menu.Item>
        <Menu.Divider />
        <Select
          data={names}
          searchable
          value={names.includes(zone) ? zone : null}
          onChange={(next) => next && choose(next)}
          placeholder={t("zone.other")}
          aria-label={t("zone.other")}
          limit={60}
          comboboxProps={{ withinPortal: false }}
        />
      </Menu.Dropdown>
    </Menu>
  )
}
