import { ActionIcon, Menu } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { exportAddress, FORMS } from "../export-address"
import type { UrlState } from "@/hooks/use-url-state"

/** Saves all that the search finds, also what is not loaded; the server reads it again and streams the file. */
export function ExportResults({ cluster, state, now }: { cluster: string; state: UrlState; now: number }) {
  const { t } = useTranslation()
  const address = exportAddress(cluster, state, now)
  if (!address) return null
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={t("find.save")} title={t("find.save")}>
          <IconDownload size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMS.map((form) => (
          <Menu.Item key={form} component="a" href={address(form, false)} download>
            {t(`find.forms.${form}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {FORMS.map((form) => (
          <NeedsRight key={form} right="bodies">
            <Menu.Item component="a" href={address(form, true)} download>
              {t("find.withBodies", { form: t(`find.forms.${form}`) })}
            </Menu.Item>
          </NeedsRight>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
