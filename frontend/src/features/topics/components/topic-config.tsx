import { Button, Group, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Field } from "@/components/forms/field"
import { Fillable, NeedsRight } from "@/components/forms/lock"
import { Columns } from "@/components/layout/page"
import { Callout, Panel } from "@/components/layout/panel"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Topic, TopicChange } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { refusedFields } from "@/lib/problem"
import { useUpdateTopic } from "../api/update-topic"
import { hasQueues, PermissionField, QueueNumber } from "./create-topic"
import { MessageTypeCell } from "./message-type"

const FIELDS = ["read_queues", "write_queues", "permission"] as const

/** Shows the request it is about to send; what did not change is not sent. */
export function TopicConfig({ cluster, topic }: { cluster: string; topic: Topic }) {
  const { t } = useTranslation()
  const update = useUpdateTopic(cluster, topic.name)
  const [edited, setEdited] = useState<TopicChange>({})
  const wanted = { ...topic, ...edited }
  const change = Object.fromEntries(FIELDS.filter((field) => wanted[field] !== topic[field]).map((field) => [field, wanted[field]]))
  const isChanged = Object.keys(change).length > 0
  const refused = refusedFields(update, wanted)
  const save = () =>
    update.mutate(change as TopicChange, {
      onSuccess: (answer) => {
        setEdited({})
        toastChange(answer, { done: t("topics.changed", { topic: topic.name }), failed: t("topics.notChanged", { topic: topic.name }), again: () => update.mutateAsync(change as TopicChange) })
      },
      onError: (error) => toastFailed(t("topics.notChanged", { topic: topic.name }), error, ["read_queues", "write_queues"]),
    })
  return (
    <Columns
      main={
        <Fillable right="manage">
          <Panel title={t("topics.tabs.config")}>
            <Stack gap={14} p={14}>
              <QueueNumber label={t("topics.readQueues")} value={wanted.read_queues} error={refused.read_queues} onChange={(read_queues) => setEdited({ ...edited, read_queues })} />
              <QueueNumber label={t("topics.writeQueues")} value={wanted.write_queues} error={refused.write_queues} onChange={(write_queues) => setEdited({ ...edited, write_queues })} />
              <PermissionField value={wanted.permission === "none" ? undefined : wanted.permission} onChange={(permission) => setEdited({ ...edited, permission })} />
              <Field label={t("topics.messageType")}>
                <p>
                  <MessageTypeCell topic={topic} />
                </p>
                <p className="micro">{t("topics.messageTypeStays")}</p>
              </Field>
              {wanted.read_queues < topic.read_queues && <Callout>{t("topics.fewerQueues")}</Callout>}
              <Group gap={8}>
                <NeedsRight right="manage">
                  <Button variant="filled" disabled={!isChanged || !hasQueues(wanted)} loading={update.isPending} onClick={save}>
                    {t("topics.saveFields", { count: Object.keys(change).length })}
                  </Button>
                </NeedsRight>
                {isChanged && (
                  <Button variant="subtle" onClick={() => setEdited({})}>
                    {t("actions.cancel")}
                  </Button>
                )}
              </Group>
            </Stack>
          </Panel>
        </Fillable>
      }
      side={
        <Panel title={t("request.title")}>
          <CodeBlock plain language="curl" text={curlOf({ method: "PATCH", path: paths.topic(cluster, topic.name), body: change })} />
        </Panel>
      }
      sideWidth={440}
    />
  )
}
