import { ActionIcon, Menu, Switch } from "@mantine/core"
import { IconDots } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { toastFailed } from "@/components/toast/toast"
import { NotApplicable, Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import type { Rule } from "@/lib/api-types"
import { useDeleteRule } from "../api/delete-rule"
import { useAlertRules } from "../api/get-rules"
import { useUpdateRule } from "../api/update-rule"
import { measured } from "../measure"

const column = columnsFor<Rule>()

export function RulesPanel() {
  const { t } = useTranslation()
  const rules = useAlertRules()
  return (
    <QueryPanel query={rules} what={t("alerts.rulesFailed")} isEmpty={(items) => items.length === 0} empty={<Empty title={t("alerts.noRules")} next={t("alerts.noRulesNext")} />}>
      {(items) => <RulesTable rules={items} />}
    </QueryPanel>
  )
}

function RulesTable({ rules }: { rules: Rule[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [state, change] = useUrlState()
  const columns = useMemo(
    () => [
      column("enabled", "", { width: 48 }, (rule) => <Enabled rule={rule} />),
      column("name", t("alerts.name"), { isName: true }, ({ name }) => name),
      column("metric", t("alerts.metric"), { isSecondary: true, minWidth: 620 }, ({ metric }) => t(`alerts.metrics.${metric}`)),
      column("subject", t("alerts.subject"), { isSecondary: true, minWidth: 760 }, ({ cluster, subject }) => `${cluster} / ${subject}`),
      column("limit", t("alerts.limit"), { align: "end" }, ({ metric, direction, limit }) => `${t(`alerts.signs.${direction}`)} ${measured(metric, limit, format)}`),
      column("for_ms", t("alerts.waits"), { align: "end", minWidth: 860 }, ({ for_ms }) => (for_ms ? format.duration(for_ms) : t("alerts.atOnce"))),
      column("worst", t("alerts.worst"), { align: "end", isSecondary: true, minWidth: 700 }, (rule) => <Worst rule={rule} />),
      column("menu", "", { width: 44 }, (rule) => <RuleMenu rule={rule} />),
    ],
    [t, format],
  )
  return <DataTable natural label={t("alerts.tabs.rules")} columns={columns} rows={rules} rowId={({ id }) => id} selectedId={state.edit} onRow={({ id }) => change({ edit: id, new: undefined, alert: undefined })} />
}

function Worst({ rule: { enabled, figures, metric } }: { rule: Rule }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!enabled) return <span className="micro">{t("alerts.off")}</span>
  const [first] = figures
  if (!first) return <Unknown reason={t("alerts.notEvaluated")} />
  if (first.subjects === 0) return <NotApplicable />
  return first.value === null ? <Unknown /> : <>{`${first.worst ?? ""} ${measured(metric, first.value, format)}`}</>
}

function Enabled({ rule }: { rule: Rule }) {
  const { t } = useTranslation()
  const update = useUpdateRule(rule.id)
  return (
    <span onClick={(event) => event.stopPropagation()}>
      <NeedsRight right="manage">
        <Switch
          checked={update.isPending ? update.variables.enabled === true : rule.enabled}
          aria-label={t("alerts.enable", { name: rule.name })}
          onChange={(event) => update.mutate({ enabled: event.currentTarget.checked }, { onError: (error) => toastFailed(t("alerts.ruleNotChanged", { name: rule.name }), error) })}
        />
      </NeedsRight>
    </span>
  )
}

function RuleMenu({ rule: { id, name } }: { rule: Rule }) {
  const { t } = useTranslation()
  const remove = useDeleteRule(id)
  const [isDeleting, setDeleting] = useState(false)
  return (
    <span onClick={(event) => event.stopPropagation()}>
      <Menu>
        <Menu.Target>
          <ActionIcon size={24} aria-label={t("actions.more")}>
            <IconDots size={15} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <NeedsRight right="manage">
            <Menu.Item color="var(--crit)" onClick={() => setDeleting(true)}>
              {t("alerts.deleteRule")}
            </Menu.Item>
          </NeedsRight>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDelete
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={t("alerts.deleteRuleTitle", { name })}
        name={name}
        action={t("alerts.deleteRule")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync()}
        done={t("alerts.ruleDeleted", { name })}
        failed={t("alerts.ruleNotDeleted", { name })}
      >
        <p>{t("alerts.deleteRuleWords")}</p>
      </ConfirmDelete>
    </span>
  )
}
