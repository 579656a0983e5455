import { Select } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Unknown } from "@/components/values/num"
import { useAbility } from "@/hooks/use-ability"
import type { TopicInput, TopicSummary } from "@/lib/api-types"

export type MessageType = NonNullable<TopicSummary["message_type"]>

export const MESSAGE_TYPES: readonly MessageType[] = ["normal", "fifo", "delay", "transaction", "mixed", "unspecified"]

/** What was declared for the messages of a topic. */
export function MessageTypeCell({ topic: { message_type: declared } }: { topic: Pick<TopicSummary, "message_type"> }) {
  const { t } = useTranslation()
  return declared === null ? <Unknown reason={t("topics.messageTypeUnknown")} /> : t(`topics.messageTypes.${declared}`)
}

interface FieldProps {
  cluster: string
  value: TopicInput["message_type"]
  error?: string | undefined
  onChange: (value: MessageType | undefined) => void
}

/** Of a new topic; nothing is declared unless one is chosen, because brokers before RocketMQ 5 refuse any. */
export function MessageTypeField({ cluster, value, error, onChange }: FieldProps) {
  const { t } = useTranslation()
  const { isLacking } = useAbility(cluster, "message_type")
  const refusesTransactions = useAbility(cluster, "transaction").isLacking
  const hint = value === "transaction" && refusesTransactions ? t("abilities.lacking.transaction") : t("topics.messageTypeHint")
  const option = (name: MessageType) => {
    const isRefused = name === "transaction" && refusesTransactions
    const label = t(`topics.messageTypes.${name}`)
    return { value: name, label: isRefused ? `${label} · ${t("abilities.lacks", { ability: t("abilities.things.transaction") })}` : label, disabled: isRefused }
  }
  return (
    <Select
      clearable
      label={t("topics.messageType")}
      description={isLacking ? t("abilities.lacks", { ability: t("abilities.things.message_type") }) : hint}
      disabled={isLacking}
      placeholder={t("topics.notDeclared")}
      data={MESSAGE_TYPES.map(option)}
      value={value ?? null}
      error={error}
      onChange={(next) => onChange((next as MessageType | null) ?? undefined)}
    />
  )
}
