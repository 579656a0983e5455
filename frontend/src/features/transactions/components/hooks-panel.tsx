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
import { toastFailed } from "@/components/toast/toast"
import { useUrlState } from "@/hooks/use-url-state"
import type { TransactionHook } from "@/lib/api-types"
import { useDeleteHook } from "../api/delete-hook"
import { useHooks } from "../api/get-hooks"
import { useUpdateHook } from "../api/update-hook"
import { FailedOutcome, Outcome } from "./hook-outcome"

const column = columnsFor<TransactionHook>()

/** URLs that decide when a broker asks a producer group, and what they answered last. */
export function HooksPanel({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const hooks = useHooks(cluster)
  const columns = useMemo(
    () => [
      column("enabled", "", { width: 48 }, (hook) => <Enabled cluster={cluster} hook={hook} />),
      column("group", t("transactions.group"), { isName: true }, ({ group }) => group),
      column("target", t("transactions.hooks.target"), { isSecondary: true, minWidth: 620 }, ({ target }) => target),
      column("last", t("transactions.hooks.last"), {}, ({ last }) => <Outcome outcome={last} />),
      column("failure", t("transactions.hooks.lastFailure"), { isSecondary: true, minWidth: 860 }, (hook) => <FailedOutcome hook={hook} />),
      column("actions", "", { width: 190 }, (hook) => <Actions cluster={cluster} hook={hook} />),
    ],
    [t, cluster],
  )
  const create = (
    <NeedsRight right="manage">
      <Button leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "hook", edit: undefined, open: undefined })}>
        {t("transactions.hooks.add")}
      </Button>
    </NeedsRight>
  )
  return (
    <QueryPanel
      query={hooks}
      title={t("transactions.hooks.title")}
      note={t("transactions.hooks.note")}
      actions={create}
      what={t("transactions.hooks.listFailed")}
      isEmpty={(items) => items.length === 0}
      empty={<Empty small title={t("transactions.hooks.none")} next={t("transactions.hooks.noneNext")} />}
    >
      {(items) => <DataTable natural label={t("transactions.hooks.title")} columns={columns} rows={items} rowId={({ id }) => id} />}
    </QueryPanel>
  )
}

interface HookProps {
  cluster: string
  hook: TransactionHook
}

function Enabled({ cluster, hook: { id, group, enabled } }: HookProps) {
  const { t } = useTranslation()
  const update = useUpdateHook(cluster, id)
  return (
    <NeedsRight right="manage">
      <Switch
        checked={(update.isPending ? update.variables.enabled : undefined) ?? enabled}
        aria-label={t("transactions.hooks.enable", { group })}
        onChange={(event) => update.mutate({ enabled: event.currentTarget.checked }, { onError: (error) => toastFailed(t("transactions.hooks.notChanged", { group }), error) })}
      />
    </NeedsRight>
  )
}

function Actions({ cluster, hook: { id, group } }: HookProps) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const remove = useDeleteHook(cluster, id)
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Group component="span" display="inline-flex" gap={6} wrap="nowrap">
      <NeedsRight right="manage">
        <Button size="xs" onClick={() => change({ edit: id, new: undefined, open: undefined })}>
          {t("transactions.hooks.change")}
        </Button>
      </NeedsRight>
      <NeedsRight right="manage">
        <Button size="xs" variant="subtle" color="var(--crit)" onClick={() => setDeleting(true)}>
          {t("transactions.hooks.remove")}
        </Button>
      </NeedsRight>
      <ConfirmDelete
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={t("transactions.hooks.removeTitle", { group })}
        action={t("transactions.hooks.remove")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync()}
        done={t("transactions.hooks.removed", { group })}
        failed={t("transactions.hooks.notRemoved", { group })}
      >
        <p>{t("transactions.hooks.removeWords", { group })}</p>
      </ConfirmDelete>
    </Group>
  )
}
