import { Button, Menu } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { paths } from "@/config/paths"
import { withQuery } from "@/lib/api-client"
import type { AuditFilter } from "../api/get-audit"

const FORMS = ["csv", "jsonl"] as const

/** Saves all records that the filter finds, also those that are not loaded; the server streams the file. */
export function ExportMenu({ filter }: { filter: AuditFilter }) {
  const { t } = useTranslation()
  return (
    <Menu>
      <Menu.Target>
        <Button leftSection={<IconDownload size={15} stroke={1.6} />}>{t("auditSearch.export")}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMS.map((form) => (
          <Menu.Item key={form} component="a" href={withQuery(paths.auditExport, { ...filter, as: form })} download={`audit.${form}`}>
            {t(`auditSearch.${form}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
