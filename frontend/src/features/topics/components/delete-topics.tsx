import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Failed } from "@/components/states/failed"
import type { BulkTopic } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useBulkPreview } from "../api/preview-bulk"
import { useBulk } from "../use-bulk"
import { BulkOutcomes } from "./bulk-outcomes"
import classes from "./topics.module.css"

interface BulkProps {
  cluster: string
  names: string[]
  onClose: () => void
}

/** One preview for all, then the number of topics is typed. */
export function DeleteTopics({ cluster, names, onClose }: BulkProps) {
  const { t } = useTranslation()
  const wish = { action: "delete" as const, body: { topics: names } }
  const preview = useBulkPreview(cluster, wish)
  const { run, lacking, isBusy } = useBulk(cluster, onClose)
  const planned = preview.data?.filter(({ outcome }) => outcome === "planned") ?? []
  const words = { count: planned.length }
  const title = t("bulkTopics.deleteTitle", { count: names.length })
  const isKnown = preview.data !== undefined && planned.length > 0
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={title}
      name={String(planned.length)}
      action={t("bulkTopics.deleteNamed", words)}
      isBusy={isBusy || preview.isLoading}
      isBlocked={!isKnown}
      onConfirm={() => run(wish, { done: t("bulkTopics.deleted", words), failed: t("bulkTopics.notDeleted") })}
    >
      {preview.error && <Failed what={t("topics.impactFailed")} error={preview.error} retry={() => void preview.refetch()} />}
      {lacking.length === 0 && <Losses items={planned} />}
      <BulkOutcomes items={lacking.length > 0 ? lacking : (preview.data?.filter(({ outcome }) => outcome === "refused") ?? [])} />
      <p>{t("topics.deleteFinal")}</p>
    </ConfirmDanger>
  )
}

function Losses({ items }: { items: BulkTopic[] }) {
  const { t } = useTranslation()
  return (
    <ul className={classes.outcomes}>
      {items.map(({ name, messages, groups, hidden_groups: hidden, scheduled, transactions }: BulkTopic) => (
        <li key={name}>
          <b>{name}</b> {messages === null ? t("bulkTopics.messagesUnknown") : t("topics.holds", { count: messages, n: count(messages) })}
          {scheduled === null && ` · ${t("bulkTopics.scheduledUnknown")}`}
          {scheduled !== null && scheduled > 0 && ` · ${t("bulkTopics.scheduled", { count: scheduled, n: count(scheduled) })}`}
          {transactions === null && ` · ${t("bulkTopics.transactionsUnknown")}`}
          {typeof transactions === "number" && transactions > 0 && ` · ${t("bulkTopics.transactions", { count: transactions, n: count(transactions) })}`}
          {groups !== null && groups.length > 0 && ` · ${t("bulkTopics.consumedBy", { groups: groups.join(t("list.comma")) })}`}
          {hidden !== null && hidden > 0 && ` · ${t("bulkTopics.consumedByHidden", { count: hidden })}`}
        </li>
      ))}
    </ul>
  )
}
