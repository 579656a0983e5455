import { Button, Menu } from "@mantine/core"
import { IconArrowsSplit2, IconChevronDown, IconFileExport, IconMailForward, IconPlayerTrackNext } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { useMay } from "@/hooks/use-rights"

export function NewJob() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const button = (
    <Button variant="filled" rightSection={<IconChevronDown size={15} stroke={1.8} />}>
      {t("jobs.new")}
    </Button>
  )
  if (!useMay("jobs")) return <NeedsRight right="jobs">{button}</NeedsRight>
  return (
    <Menu>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPlayerTrackNext size={15} stroke={1.6} />} onClick={() => void navigate({ to: "/jobs/new/replay" })}>
          {t("jobs.newReplay")}
        </Menu.Item>
        <Menu.Item leftSection={<IconArrowsSplit2 size={15} stroke={1.6} />} onClick={() => void navigate({ to: "/jobs/new/reconcile" })}>
          {t("jobs.newReconcile")}
        </Menu.Item>
        <Menu.Item leftSection={<IconFileExport size={15} stroke={1.6} />} onClick={() => void navigate({ to: "/jobs/new/export" })}>
          {t("exporting.title")}
        </Menu.Item>
        <Menu.Item leftSection={<IconMailForward size={15} stroke={1.6} />} onClick={() => void navigate({ to: "/jobs/new/redrive" })}>
          {t("redriveWizard.title")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
