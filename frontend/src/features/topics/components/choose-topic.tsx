import { Checkbox } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useStore } from "@/lib/store"
import { chosenTopics, MAX_CHOSEN } from "../chosen-topics"

/** Ticks a topic for an action on several. */
export function ChooseTopic({ topic }: { topic: string }) {
  const { t } = useTranslation()
  const chosen = useStore(chosenTopics)
  const isChosen = chosen.includes(topic)
  return (
    <Checkbox
      size="xs"
      aria-label={t("bulkTopics.choose", { topic })}
      checked={isChosen}
      disabled={!isChosen && chosen.length >= MAX_CHOSEN}
      onChange={() => chosenTopics.set(isChosen ? chosen.filter((name) => name !== topic) : [...chosen, topic])}
    />
  )
}
