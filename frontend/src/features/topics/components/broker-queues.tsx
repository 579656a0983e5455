import { Button, Group, Select, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Fillable, NeedsRight } from "@/components/forms/lock"
import { Callout } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { QueryPanel } from "@/components/states/query-panel"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { useDebounced } from "@/hooks/use-debounced"
import type { BrokerQueueChange, BrokerQueues as Settings } from "@/lib/api-types"
import { useBrokerQueues } from "../api/get-topic-queues"
import { useQueuesPreview } from "../api/preview-queues"
import { useUpdateQueues } from "../api/update-queues"
import { hasQueues, QueueNumber } from "./create-topic"
import classes from "./topics.module.css"

interface BrokerQueuesProps {
  cluster: string
  topic: string
}

const FIELDS = ["read_queues", "write_queues", "permission"] as const
const PERMISSIONS = ["rw", "r", "w"] as const
const SETTLED_MS = 300

/** Queue counts and permission broker by broker: how one drains a broker without touching the others. */
export function BrokerQueues({ cluster, topic }: BrokerQueuesProps) {
  const { t } = useTranslation()
  const settings = useBrokerQueues(cluster, topic)
  return (
    <QueryPanel query={settings} title={t("topics.eachBroker")} note={t("topics.eachBrokerNote")} what={t("topics.queuesFailed")}>
      {(brokers) => (
        <Fillable right="manage">
          <Rows cluster={cluster} topic={topic} brokers={brokers} />
        </Fillable>
      )}
    </QueryPanel>
  )
}

type Edited = Record<string, Partial<Settings>>

function Rows({ cluster, topic, brokers }: BrokerQueuesProps & { brokers: Settings[] }) {
  const { t } = useTranslation()
  const [edited, setEdited] = useState<Edited>({})
  // A number field keeps what was typed: it is made anew to show what the broker has.
  const [round, setRound] = useState(0)
  const clear = () => {
    setEdited({})
    setRound(round + 1)
  }
  const update = useUpdateQueues(cluster, topic)
  const changes = changesOf(brokers, edited)
  const isRight = brokers.every((each) => hasQueues({ ...each, ...edited[each.broker] }))
  const words = { done: t("topics.changed", { topic }), failed: t("topics.notChanged", { topic }) }
  const save = () =>
    update.mutate(changes, {
      onSuccess: (answer) => {
        clear()
        toastChange(answer, { ...words, again: () => update.mutateAsync(changes) })
      },
      onError: (error) => toastFailed(words.failed, error),
    })
  return (
    <Stack gap={14} p={14}>
      {brokers.map((each) => (
        <Row key={`${each.broker} ${each.read_queues} ${each.write_queues} ${round}`} settings={{ ...each, ...edited[each.broker] }} onChange={(patch) => setEdited({ ...edited, [each.broker]: { ...edited[each.broker], ...patch } })} />
      ))}
      {isRight && <Effects cluster={cluster} topic={topic} changes={changes} />}
      <Group gap={8}>
        <NeedsRight right="manage">
          <Button variant="filled" disabled={changes.length === 0 || !isRight} loading={update.isPending} onClick={save}>
            {t("topics.changeBrokers", { count: changes.length })}
          </Button>
        </NeedsRight>
        {changes.length > 0 && (
          <Button variant="subtle" onClick={clear}>
            {t("actions.cancel")}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Row({ settings, onChange }: { settings: Settings; onChange: (patch: Partial<Settings>) => void }) {
  const { t } = useTranslation()
  const { broker, read_queues: read, write_queues: write, permission } = settings
  return (
    <Group gap={12} align="flex-end" role="group" aria-label={broker}>
      <strong className={classes.broker}>{broker}</strong>
      <QueueNumber label={t("topics.readQueues")} value={read} onChange={(read_queues) => onChange({ read_queues })} />
      <QueueNumber label={t("topics.writeQueues")} value={write} onChange={(write_queues) => onChange({ write_queues })} />
      <Select
        label={t("topics.permission")}
        allowDeselect={false}
        value={permission === "none" ? null : permission}
        placeholder={t("topics.permissions.none")}
        onChange={(name) => onChange({ permission: PERMISSIONS.find((each) => each === name) ?? permission })}
        data={PERMISSIONS.map((name) => ({ value: name, label: t(`topics.permissions.${name}`) }))}
      />
    </Group>
  )
}

/** What the change does, asked of the gateway once the fields stand still. */
function Effects({ cluster, topic, changes }: BrokerQueuesProps & { changes: BrokerQueueChange[] }) {
  const { t } = useTranslation()
  const preview = useQueuesPreview(cluster, topic, useDebounced(changes, SETTLED_MS))
  if (changes.length === 0) return null
  if (preview.error) return <Failed what={t("topics.effectsFailed")} error={preview.error} />
  const effects = (preview.data ?? []).flatMap(({ before, effects: found }) => found.map((effect) => ({ broker: before.broker, effect })))
  return effects.map(({ broker, effect }) => (
    <Callout key={`${broker} ${effect}`}>
      {broker}: {t(`topics.effects.${effect}`)}
    </Callout>
  ))
}

/** What differs from what the brokers have, broker by broker. */
function changesOf(brokers: Settings[], edited: Edited): BrokerQueueChange[] {
  return brokers.flatMap((now) => {
    const wanted = { ...now, ...edited[now.broker] }
    const changed = FIELDS.filter((field) => wanted[field] !== now[field])
    return changed.length === 0 ? [] : [{ broker: now.broker, ...Object.fromEntries(changed.map((field) => [field, wanted[field]])) }]
  })
}
