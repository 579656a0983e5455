import { Group, Select } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Callout } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { useDebounced } from "@/hooks/use-debounced"
import type { BulkTopic, BulkWish } from "@/lib/api-types"
import { useBulkPreview } from "../api/preview-bulk"
import { useBulk } from "../use-bulk"
import { BulkOutcomes } from "./bulk-outcomes"
import { QUEUES } from "./create-topic"

interface BulkProps {
  cluster: string
  names: string[]
  onClose: () => void
}

type Settings = Omit<Extract<BulkWish, { action: "update" }>["body"], "topics">
const PERMISSIONS = ["rw", "r", "w"] as const
const SETTLED_MS = 300

/** The same settings for all ticked topics; an empty field keeps what each has. */
export function ChangeTopics({ cluster, names, onClose }: BulkProps) {
  const { t } = useTranslation()
  const [settings, setSettings] = useState<Settings>({})
  const isRight = ([settings.read_queues, settings.write_queues] as const).every((value) => value === undefined || isWithin(value, QUEUES))
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Settings
  const wish = { action: "update" as const, body: { topics: names, ...given } }
  const preview = useBulkPreview(cluster, useDebounced(isRight ? wish : { ...wish, body: { topics: names } }, SETTLED_MS))
  const { run, lacking, isBusy } = useBulk(cluster, onClose)
  const isReady = isRight && Object.keys(given).length > 0 && preview.data !== undefined && !preview.isFetching
  const words = { count: names.length }
  const number = (name: "read_queues" | "write_queues", label: string) => (
    <NumberField label={label} width={150} isOptional value={settings[name]} {...QUEUES} onChange={(value) => setSettings({ ...settings, [name]: value } as Settings)} />
  )
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t("bulkTopics.changeTitle", words)}
      action={t("bulkTopics.changeNamed", words)}
      isBusy={isBusy || (!isReady && Object.keys(given).length > 0 && isRight && preview.isFetching)}
      isBlocked={!isReady}
      onConfirm={() => run(wish, { done: t("bulkTopics.changed", words), failed: t("bulkTopics.notChanged") })}
    >
      <p>{t("bulkTopics.keeps")}</p>
      <Group gap={12} align="flex-end">
        {number("read_queues", t("topics.readQueues"))}
        {number("write_queues", t("topics.writeQueues"))}
        <Select
          label={t("topics.permission")}
          clearable
          value={settings.permission ?? null}
          placeholder={t("bulkTopics.kept")}
          onChange={(name) => setSettings({ ...settings, permission: PERMISSIONS.find((each) => each === name) } as Settings)}
          data={PERMISSIONS.map((name) => ({ value: name, label: t(`topics.permissions.${name}`) }))}
        />
      </Group>
      {preview.error && <Failed what={t("topics.effectsFailed")} error={preview.error} />}
      {lacking.length === 0 && <Effects items={preview.data ?? []} />}
      <BulkOutcomes items={lacking.length > 0 ? lacking : (preview.data?.filter(({ outcome }) => outcome === "refused") ?? [])} />
    </ConfirmDanger>
  )
}

/** Each effect with the topics that it meets. */
function Effects({ items }: { items: BulkTopic[] }) {
  const { t } = useTranslation()
  const met = new Map<BulkTopic["changes"][number]["effects"][number], Set<string>>()
  for (const { name, changes } of items)
    for (const effect of changes.flatMap(({ effects }) => effects)) met.set(effect, (met.get(effect) ?? new Set()).add(name))
  return [...met].map(([effect, names]) => (
    <Callout key={effect}>
      {[...names].join(t("list.comma"))}: {t(`topics.effects.${effect}`)}
    </Callout>
  ))
}
