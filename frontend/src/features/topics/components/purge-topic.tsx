import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Failed } from "@/components/states/failed"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import type { TopicPurge } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { usePurgePreview } from "../api/preview-purge"
import { usePurgeTopic } from "../api/purge-topic"
import classes from "./topics.module.css"

interface PurgeTopicProps {
  cluster: string
  topic: string
  onClose: () => void
}

/** Says what becomes unreadable and who has not had it, then asks for the name; takes only what it counted. */
export function PurgeTopic({ cluster, topic, onClose }: PurgeTopicProps) {
  const { t } = useTranslation()
  const preview = usePurgePreview(cluster, topic)
  const purge = usePurgeTopic(cluster, topic)
  const plan = preview.data
  const words = { topic }
  const confirm = () => {
    if (plan === undefined) return
    purge.mutate(plan, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("purge.done", words), failed: t("purge.notDone", words), again: () => purge.mutateAsync(plan) })
        onClose()
      },
      onError: (error) => toastFailed(t("purge.notDone", words), error),
    })
  }
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t("purge.title", words)}
      {...(plan?.messages !== 0 && { name: topic })}
      action={t("purge.named", words)}
      isBusy={purge.isPending || preview.isLoading}
      isBlocked={plan === undefined || plan.messages === 0}
      onConfirm={confirm}
    >
      {preview.error && <Failed what={t("purge.unknown")} error={preview.error} retry={() => void preview.refetch()} />}
      {plan && <Loss plan={plan} />}
      <p>{t("purge.final")}</p>
    </ConfirmDanger>
  )
}

function Loss({ plan: { messages, bytes: size, groups, hidden_groups: hidden, missing } }: { plan: TopicPurge }) {
  const { t } = useTranslation()
  if (messages === 0 && missing.length === 0) return <p>{t("purge.nothing")}</p>
  const losing = groups.filter(({ unread }) => unread !== 0)
  return (
    <>
      <p>
        {t("topics.losesMessages", { count: messages, n: count(messages) })} {size !== null && t("purge.size", { size: bytes(size) })}
      </p>
      {losing.length === 0 && hidden === 0 && <p>{t(groups.length === 0 ? "purge.noGroup" : "purge.allRead")}</p>}
      {losing.length > 0 && (
        <ul className={classes.outcomes}>
          {losing.map(({ name, unread, reason }) => (
            <li key={name}>
              <b>{name}</b>{" "}
              {unread === null ? t("purge.unreadUnknown", { reason: reasonIn(t, reason ?? "") }) : t("purge.unread", { count: unread, n: count(unread) })}
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p>{t("purge.hidden", { count: hidden })}</p>}
      {missing.map(({ broker, reason }) => (
        <p key={broker}>{t("purge.missing", { broker, reason: reasonIn(t, reason) })}</p>
      ))}
    </>
  )
}
