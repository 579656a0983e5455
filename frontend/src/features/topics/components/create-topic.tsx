import { Button, Group, NumberInput, SegmentedControl, Stack, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Field } from "@/components/forms/field"
import { Fillable } from "@/components/forms/lock"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { curlOf } from "@/lib/curl"
import { asProblem } from "@/lib/problem"
import type { TopicInput } from "@/lib/api-types"
import { useCreateTopic } from "../api/change-topic"

const FIRST: TopicInput = { name: "", read_queues: 4, write_queues: 4, permission: "rw" }
const NAME = /^[%|a-zA-Z0-9_-]{1,127}$/

export function CreateTopic({ cluster, onClose }: { cluster: string; onClose: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useCreateTopic(cluster)
  const [input, setInput] = useState(FIRST)
  const isNamed = NAME.test(input.name)
  const refused = create.error ? asProblem(create.error).fields : {}
  const submit = () =>
    create.mutate(input, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("topics.created", { topic: input.name }), failed: t("topics.notCreated", { topic: input.name }), again: () => create.mutateAsync(input) })
        void navigate({ to: "/topics/$topic", params: { topic: input.name } })
      },
      onError: (error) => toastFailed(t("topics.notCreated", { topic: input.name }), error),
    })
  return (
    <DockedDrawer label={t("topics.create")} onClose={onClose}>
      <Fillable right="manage">
        <form
          style={{ padding: "0 20px 20px" }}
          onSubmit={(event) => {
            event.preventDefault()
            if (isNamed) submit()
          }}
        >
          <Stack gap={14}>
            <h2 style={{ fontSize: 16, fontWeight: 600 }}>{t("topics.create")}</h2>
            <TextInput
              label={t("topics.name")}
              description={t("topics.nameRule")}
              value={input.name}
              onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
              error={refused.name ?? (input.name !== "" && !isNamed ? t("topics.nameWrong") : null)}
              data-autofocus
              autoFocus
            />
            <QueueNumber label={t("topics.readQueues")} value={input.read_queues} onChange={(read_queues) => setInput({ ...input, read_queues })} />
            <QueueNumber label={t("topics.writeQueues")} value={input.write_queues} onChange={(write_queues) => setInput({ ...input, write_queues })} />
            <PermissionField value={input.permission} onChange={(permission) => setInput({ ...input, permission })} />
            <CodeBlock language="curl" text={curlOf({ method: "POST", path: paths.topics(cluster), body: input })} />
            <Group gap={8}>
              <Button type="submit" variant="filled" size="md" disabled={!isNamed} loading={create.isPending}>
                {input.name === "" ? t("topics.create") : t("topics.createNamed", { topic: input.name })}
              </Button>
              <Button variant="subtle" size="md" onClick={onClose}>
                {t("actions.cancel")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Fillable>
    </DockedDrawer>
  )
}

interface NumberProps {
  label: string
  value: number
  onChange: (value: number) => void
}

export const QueueNumber = ({ label, value, onChange }: NumberProps) => (
  <NumberInput label={label} value={value} min={1} max={1024} allowDecimal={false} onChange={(next) => onChange(Number(next) || 1)} maw={160} />
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
