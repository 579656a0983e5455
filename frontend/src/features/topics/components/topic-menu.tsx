import { ActionIcon, Menu } from "@mantine/core"
import { IconDots, IconMessage2Search, IconPlayerTrackNext, IconSend } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import tableClasses from "@/components/data-table/data-table.module.css"
import { NeedsRight } from "@/components/forms/lock"

/** What one does most with a topic, from its row. */
export function TopicMenu({ topic }: { topic: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size={22} className={tableClasses.onHover ?? ""} aria-label={t("actions.more")}>
          <IconDots size={15} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <NeedsRight right="produce">
          <Menu.Item
            leftSection={<IconSend size={15} stroke={1.6} />}
            onClick={() => void navigate({ to: "/topics/$topic", params: { topic }, search: { tab: "produce" } })}
          >
            {t("topics.produce")}
          </Menu.Item>
        </NeedsRight>
        <Menu.Item
          leftSection={<IconMessage2Search size={15} stroke={1.6} />}
          onClick={() => void navigate({ to: "/messages", search: { topic } })}
        >
          {t("topics.search")}
        </Menu.Item>
        <NeedsRight right="jobs">
          <Menu.Item
            leftSection={<IconPlayerTrackNext size={15} stroke={1.6} />}
            onClick={() => void navigate({ to: "/jobs/new/replay", search: { topic } })}
          >
            {t("topics.replay")}
          </Menu.Item>
        </NeedsRight>
      </Menu.Dropdown>
    </Menu>
  )
}
