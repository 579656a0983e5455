import { ActionIcon } from "@mantine/core"
import { IconStar, IconStarFilled } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import tableClasses from "@/components/data-table/data-table.module.css"
import { pinnedTopics } from "@/lib/preferences"
import { useStore } from "@/lib/store"

/** Pins a topic to the top of the list, in this browser. */
export function PinStar({ topic }: { topic: string }) {
  const { t } = useTranslation()
  const pins = useStore(pinnedTopics)
  const isPinned = pins.includes(topic)
  const Star = isPinned ? IconStarFilled : IconStar
  return (
    <ActionIcon
      size={22}
      className={tableClasses.onHover ?? ""}
      data-on={isPinned || undefined}
      aria-label={t("topics.pin", { topic })}
      aria-pressed={isPinned}
      onClick={() => pinnedTopics.set(isPinned ? pins.filter((name) => name !== topic) : [...pins, topic])}
    >
      <Star size={14} stroke={1.6} />
    </ActionIcon>
  )
}
