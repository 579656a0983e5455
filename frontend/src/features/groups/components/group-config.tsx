import { Button, Group as Row, Stack, Switch } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Fillable, NeedsRight } from "@/components/forms/lock"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Columns } from "@/components/layout/page"
import { Callout, Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Group, GroupChange } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { refusedFields } from "@/lib/problem"
import { useUpdateGroup } from "../api/update-group"
import { RETRIES } from "./create-group"

type Config = NonNullable<Group["config"]>

export function GroupConfig({ cluster, group }: { cluster: string; group: Group }) {
  const { t } = useTranslation()
  if (!group.config)
    return (
      <Panel title={t("groups.tabs.config")}>
        <Empty small title={t("groups.noConfig")} next={t("groups.noConfigNext")} />
      </Panel>
    )
  return <ConfigForm cluster={cluster} group={group.name} config={group.config} />
}

const FIELDS = ["consume_enabled", "consume_broadcast_enabled", "retry_max_times"] as const

/** Shows the request it is about to send; what did not change is not sent. */
function ConfigForm({ cluster, group, config }: { cluster: string; group: string; config: Config }) {
  const { t } = useTranslation()
  const update = useUpdateGroup(cluster, group)
  const [edited, setEdited] = useState<GroupChange>({})
  const wanted = { ...config, ...edited }
  const change: GroupChange = Object.fromEntries(FIELDS.filter((field) => wanted[field] !== config[field]).map((field) => [field, wanted[field]]))
  const changed = Object.keys(change).length
  const save = () =>
    update.mutate(change, {
      onSuccess: (answer) => {
        setEdited({})
        toastChange(answer, { done: t("groups.changed", { group }), failed: t("groups.notChanged", { group }), again: () => update.mutateAsync(change) })
      },
      onError: (error) => toastFailed(t("groups.notChanged", { group }), error, ["retry_max_times"]),
    })
  return (
    <Columns
      sideWidth={440}
      main={
        <Fillable right="manage">
          <Panel title={t("groups.tabs.config")} note={t("groups.configNote")}>
            <Stack gap={14} p={14}>
              <Switch
                label={t("groups.consumeEnabled")}
                checked={wanted.consume_enabled}
                onChange={(event) => setEdited({ ...edited, consume_enabled: event.currentTarget.checked })}
              />
              {config.consume_enabled && !wanted.consume_enabled && <Callout>{t("groups.willStop")}</Callout>}
              <Switch
                label={t("groups.broadcastEnabled")}
                checked={wanted.consume_broadcast_enabled}
                onChange={(event) => setEdited({ ...edited, consume_broadcast_enabled: event.currentTarget.checked })}
              />
              <NumberField
                label={t("groups.retries")}
                description={t("groups.retriesWords")}
                value={wanted.retry_max_times}
                error={refusedFields(update, wanted).retry_max_times}
                {...RETRIES}
                onChange={(next = Number.NaN) => setEdited({ ...edited, retry_max_times: next })}
              />
              <p className="micro">{t("groups.retryQueuesAre", { count: config.retry_queue_nums })}</p>
              <Row gap={8}>
                <NeedsRight right="manage">
                  <Button variant="filled" disabled={changed === 0 || !isWithin(wanted.retry_max_times, RETRIES)} loading={update.isPending} onClick={save}>
                    {t("topics.saveFields", { count: changed })}
                  </Button>
                </NeedsRight>
                {changed > 0 && (
                  <Button variant="subtle" onClick={() => setEdited({})}>
                    {t("actions.cancel")}
                  </Button>
                )}
              </Row>
            </Stack>
          </Panel>
        </Fillable>
      }
      side={
        <Panel title={t("request.title")}>
          <CodeBlock plain language="curl" text={curlOf({ method: "PATCH", path: paths.group(cluster, group), body: change })} />
        </Panel>
      }
    />
  )
}
