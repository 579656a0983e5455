import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Failed } from "@/components/states/failed"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import type { TopicImpact } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useDeleteTopic, useForgetTopic } from "../api/delete-topic"
import { useTopicImpact } from "../api/get-topic-impact"

/** Groups that one may not see are counted: without them the loss would look smaller than it is. */
function Groups({ impact: { groups, hidden_groups: hidden } }: { impact: TopicImpact }) {
  const { t } = useTranslation()
  if (groups.length === 0 && hidden === 0) return <p>{t("topics.losesNoGroup")}</p>
  return (
    <>
      {groups.length > 0 && <p>{t("topics.losesGroups", { count: groups.length, groups: groups.join(t("list.comma")) })}</p>}
      {hidden > 0 && <p>{t("topics.losesHidden", { count: hidden })}</p>}
    </>
  )
}

/** What waits for its time is not among the topic's messages yet. */
function Scheduled({ waiting }: { waiting: number | null }) {
  const { t } = useTranslation()
  if (waiting === 0) return null
  return <p>{waiting === null ? t("topics.scheduledUnknown") : t("topics.losesScheduled", { count: waiting, n: count(waiting) })}</p>
}

/** A half message of a topic that is gone can be committed only when the topic exists again; undefined: an older API does not tell. */
function Transactions({ open }: { open: number | null | undefined }) {
  const { t } = useTranslation()
  if (open === 0 || open === undefined) return null
  return <p>{open === null ? t("topics.transactionsUnknown") : t("topics.leavesTransactions", { count: open, n: count(open) })}</p>
}

interface DeleteTopicProps {
  cluster: string
  topic: string
  onClose: () => void
}

/** First asks what would be lost, then for the name. */
export function DeleteTopic({ cluster, topic, onClose }: DeleteTopicProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const impact = useTopicImpact(cluster, topic)
  const remove = useDeleteTopic(cluster, topic)
  const forget = useForgetTopic(cluster, topic)
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("topics.deleted", { topic }), failed: t("topics.notDeleted", { topic }), again: () => remove.mutateAsync() })
        void navigate({ to: "/topics" }).then(forget)
      },
      onError: (error) => toastFailed(t("topics.notDeleted", { topic }), error),
    })
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t("topics.deleteTitle", { topic })}
      name={topic}
      action={t("topics.deleteNamed", { topic })}
      isBusy={remove.isPending}
      onConfirm={confirm}
    >
      {impact.error && <Failed what={t("topics.impactFailed")} error={impact.error} retry={() => void impact.refetch()} />}
      {impact.data && (
        <>
          <p>
            {impact.data.messages === null
              ? t("topics.lossUnknown")
              : t("topics.losesMessages", { count: impact.data.messages, n: count(impact.data.messages) })}
          </p>
          <Scheduled waiting={impact.data.scheduled} />
          <Transactions open={impact.data.transactions} />
          <Groups impact={impact.data} />
        </>
      )}
      <p>{t("topics.deleteFinal")}</p>
    </ConfirmDanger>
  )
}
