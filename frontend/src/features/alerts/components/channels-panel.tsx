import { Button, Group, Switch } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Num } from "@/components/values/num"
import { useAlertChannels } from "@/hooks/use-alert-channels"
import { useUrlState } from "@/hooks/use-url-state"
import type { AlertChannel } from "@/lib/api-types"
import { ASK_EVERY_MS } from "../api/keys"
import { useDeleteChannel } from "../api/delete-channel"
import { useTestChannel } from "../api/test-channel"
import { useEnableChannel } from "../api/update-channel"

const column = columnsFor<AlertChannel>()

export function ChannelsPanel() {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const channels = useAlertChannels({ everyMs: ASK_EVERY_MS })
  const create = (
    <NeedsRight right="manage">
      <Button leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "channel", alert: undefined, edit: undefined })}>
        {t("alerts.newChannel")}
      </Button>
    </NeedsRight>
  )
  const columns = useMemo(
    () => [
      column("enabled", "", { width: 48 }, (channel) => <Enabled channel={channel} />),
      column("name", t("alerts.name"), { isName: true }, ({ name }) => name),
      column("kind", t("alerts.kind"), { minWidth: 560 }, ({ kind }) => t(`alerts.kinds.${kind}`)),
      column("target", t("alerts.target"), { isSecondary: true, minWidth: 480 }, ({ target }) => target),
      column("rules", t("alerts.tabs.rules"), { align: "end" }, ({ rules }) => <Num value={rules} />),
      column("actions", "", { width: 190 }, (channel) => <Actions channel={channel} />),
    ],
    [t],
  )
  return (
    <QueryPanel query={channels} title={t("alerts.tabs.channels")} actions={create} what={t("alerts.channelsFailed")} isEmpty={(items) => items.length === 0} empty={<Empty title={t("alerts.noChannels")} next={t("alerts.noChannelsNext")} />}>
      {(items) => <DataTable natural label={t("alerts.tabs.channels")} columns={columns} rows={items} rowId={({ id }) => id} />}
    </QueryPanel>
  )
}

function Enabled({ channel: { id, name, enabled } }: { channel: AlertChannel }) {
  const { t } = useTranslation()
  const enable = useEnableChannel(id)
  return (
    <NeedsRight right="manage">
      <Switch
        checked={enable.isPending ? enable.variables : enabled}
        aria-label={t("alerts.enable", { name })}
        onChange={(event) => enable.mutate(event.currentTarget.checked, { onError: (error) => toastFailed(t("alerts.channelNotChanged", { name }), error) })}
      />
    </NeedsRight>
  )
}

function Actions({ channel: { id, name } }: { channel: AlertChannel }) {
  const { t } = useTranslation()
  const test = useTestChannel(id)
  const remove = useDeleteChannel(id)
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Group component="span" display="inline-flex" gap={6} wrap="nowrap">
      <NeedsRight right="manage">
        <Button size="xs" loading={test.isPending} onClick={() => test.mutate(undefined, { onSuccess: () => toastDone(t("alerts.testSent", { name })), onError: (error) => toastFailed(t("alerts.testNotSent", { name }), error) })}>
          {t("alerts.test")}
        </Button>
      </NeedsRight>
      <NeedsRight right="manage">
        <Button size="xs" variant="subtle" color="var(--crit)" onClick={() => setDeleting(true)}>
          {t("alerts.delete")}
        </Button>
      </NeedsRight>
      <ConfirmDelete
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={t("alerts.deleteChannelTitle", { name })}
        name={name}
        action={t("alerts.delete")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync()}
        done={t("alerts.channelDeleted", { name })}
        failed={t("alerts.channelNotDeleted", { name })}
      >
        <p>{t("alerts.deleteChannelWords")}</p>
      </ConfirmDelete>
    </Group>
  )
}
