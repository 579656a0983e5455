import { SegmentedControl, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useNameRule } from "@/hooks/use-naming"
import { refusedFields } from "@/lib/problem"
import type { Topic, TopicInput } from "@/lib/api-types"
import { useCreateTopic } from "../api/create-topic"
import { type MessageType, MessageTypeField } from "./message-type"

const FIRST: TopicInput = { name: "", read_queues: 4, write_queues: 4, permission: "rw" }

interface CreateTopicProps {
  cluster: string
  /** Its settings are taken over. */
  like?: Topic | undefined
  onClose: () => void
}

export function CreateTopic({ cluster, like, onClose }: CreateTopicProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useCreateTopic(cluster)
  const [input, setInput] = useState(() => (like ? settingsOf(like) : FIRST))
  const rule = useNameRule("topic")
  const isNamed = rule.fits(input.name)
  const refused = refusedFields(create, { message_type: undefined, ...input })
  const submit = () =>
    create.mutate(input, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("topics.created", { topic: input.name }), failed: t("topics.notCreated", { topic: input.name }), again: () => create.mutateAsync(input) })
        void navigate({ to: "/topics/$topic", params: { topic: input.name } })
      },
      onError: (error) => toastFailed(t("topics.notCreated", { topic: input.name }), error, ["name", "read_queues", "write_queues", "message_type"]),
    })
  return (
    <FormDrawer
      title={t("topics.create")}
      action={input.name === "" ? t("topics.create") : t("topics.createNamed", { topic: input.name })}
      right="manage"
      isReady={isNamed && hasQueues(input)}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "POST", path: paths.topics(cluster), body: input }}
    >
      <TextInput
        label={t("topics.name")}
        description={rule.maxLength && t("forms.nameRule", { max: rule.maxLength })}
        value={input.name}
        onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
        error={refused.name ?? (input.name !== "" && !isNamed ? t("forms.nameWrong", { max: rule.maxLength }) : null)}
        data-autofocus
        autoFocus
      />
      <QueueNumber label={t("topics.readQueues")} value={input.read_queues} error={refused.read_queues} onChange={(read_queues) => setInput({ ...input, read_queues })} />
      <QueueNumber label={t("topics.writeQueues")} value={input.write_queues} error={refused.write_queues} onChange={(write_queues) => setInput({ ...input, write_queues })} />
      <PermissionField value={input.permission} onChange={(permission) => setInput({ ...input, permission })} />
      <MessageTypeField cluster={cluster} value={input.message_type} error={refused.message_type} onChange={(message_type) => setInput(withType(input, message_type))} />
    </FormDrawer>
  )
}

/** What a new topic takes over; a topic that is paused altogether gives no permission. */
const settingsOf = ({ read_queues, write_queues, permission, message_type }: Topic): TopicInput => ({
  name: "",
  read_queues,
  write_queues,
  permission: permission === "none" ? "rw" : permission,
  ...(message_type && { message_type }),
})

function withType(input: TopicInput, chosen: MessageType | undefined): TopicInput {
  const next = { ...input }
  delete next.message_type
  return chosen ? { ...next, message_type: chosen } : next
}

interface NumberProps {
  label: string
  value: number
  error?: string | undefined
  onChange: (value: number) => void
}

export const QUEUES = { min: 1, max: 1024 }

/** Whether the API may take both numbers of queues. */
export const hasQueues = ({ read_queues: read, write_queues: write }: Pick<TopicInput, "read_queues" | "write_queues">): boolean =>
  isWithin(read, QUEUES) && isWithin(write, QUEUES)

export const QueueNumber = ({ label, value, error, onChange }: NumberProps) => (
  <NumberField label={label} value={value} error={error} {...QUEUES} onChange={(next = Number.NaN) => onChange(next)} />
)

interface PermissionProps {
  value: TopicInput["permission"] | undefined
  onChange: (value: TopicInput["permission"]) => void
}

export function PermissionField({ value, onChange }: PermissionProps) {
  const { t } = useTranslation()
  return (
    <Field label={t("topics.permission")}>
      <SegmentedControl
        {...(value && { value })}
        onChange={(next) => onChange(next as TopicInput["permission"])}
        data={(["rw", "r", "w"] as const).map((name) => ({ value: name, label: t(`topics.permissions.${name}`) }))}
      />
    </Field>
  )
}
