import { IconX } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { NamePicker } from "@/components/forms/name-picker"
import { MOST_TOPICS } from "../watched"
import classes from "./live.module.css"

interface TopicChipsProps {
  topics: string[]
  names: string[]
  onChange: (topics: string[]) => void
}

/** The topics that are watched, and a field that adds one. */
export function TopicChips({ topics, names, onChange }: TopicChipsProps) {
  const { t } = useTranslation()
  return (
    <span className={classes.topics}>
      {topics.map((topic) => (
        <button
          key={topic}
          type="button"
          className={classes.topic}
          aria-label={t("tail.removeTopic", { topic })}
          onClick={() => onChange(topics.filter((name) => name !== topic))}
        >
          {topic}
          <IconX size={14} stroke={1.6} aria-hidden />
        </button>
      ))}
      {topics.length < MOST_TOPICS && (
        <NamePicker
          key={topics.length}
          aria-label={t("tail.chooseTopic")}
          placeholder={`+ ${t("tail.addTopic")}`}
          names={names.filter((name) => !topics.includes(name))}
          value={undefined}
          onChange={(name) => name && onChange([...topics, name])}
          w={150}
        />
      )}
    </span>
  )
}
