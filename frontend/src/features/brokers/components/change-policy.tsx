import { Checkbox, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Callout } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { ReplicaPolicy } from "@/lib/api-types"
import { useChangePolicy } from "../api/change-replica-policy"
import { useReplicaPolicy } from "../api/get-replica-policy"
import { usePreviewPolicy } from "../api/preview-replica-policy"
import { ChangePlan } from "./change-plan"
import { PreviewFailed } from "./preview-failed"

const LEAST = { min: 1, max: 100 }

interface ChangePolicyProps {
  cluster: string
  broker: string
  leastNow: number | null
  onClose: () => void
}

/** How many replicas sends need, and whether one may be elected that may lack messages: previewed, then changed. */
export function ChangePolicy({ cluster, broker, leastNow, onClose }: ChangePolicyProps) {
  const { t } = useTranslation()
  const read = useReplicaPolicy(cluster, broker)
  const preview = usePreviewPolicy(cluster, broker)
  const change = useChangePolicy(cluster, broker)
  const [draft, setDraft] = useState<Partial<ReplicaPolicy>>({})
  const [typed, setTyped] = useState("")
  const now = read.data
  const policy = { min_in_sync: NaN, unclean_allowed: false, ...now, ...draft }
  const planned = isSame(preview.variables, policy) ? preview.data : undefined
  const isRisky = policy.unclean_allowed && now?.unclean_allowed === false
  const refused = isSame(preview.variables, policy) ? preview.error : null
  const failed = (error: unknown) => {
    toastFailed(t("replicas.policy.failed", { broker }), error)
    preview.reset()
    void read.refetch()
  }
  const submit = () => {
    if (!planned?.plan) return preview.mutate(policy, { onError: () => void read.refetch() })
    change.mutate({ policy, plan: planned.plan }, { onSuccess: done, onError: failed })
  }
  const done = () => {
    toastDone(t("replicas.policy.done", { broker }))
    onClose()
  }
  return (
    <FormDrawer
      title={t("replicas.policy.title", { broker })}
      action={t(planned ? "replicas.policy.do" : "replicas.preview", { broker })}
      right="admin"
      isReady={now !== undefined && !isSame(now, policy) && isWithin(policy.min_in_sync, LEAST) && (!isRisky || typed === broker)}
      isBusy={preview.isPending || change.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "PATCH", path: paths.replicaPolicy(cluster, broker), body: policy }}
    >
      {read.error && <Failed what={t("replicas.policy.unread", { broker })} error={read.error} retry={() => void read.refetch()} />}
      {now && (
        <>
          <NumberField {...LEAST} width="100%" label={t("replicas.least")} description={t("replicas.policy.leastWords")} value={policy.min_in_sync} onChange={(least) => setDraft({ ...draft, min_in_sync: least ?? NaN })} />
          <Checkbox
            label={t("replicas.uncleanElected")}
            description={t("replicas.policy.uncleanWords")}
            checked={policy.unclean_allowed}
            onChange={(event) => setDraft({ ...draft, unclean_allowed: event.currentTarget.checked })}
          />
          {isRisky && (
            <>
              <Callout tone="crit">{t("replicas.policy.risk")}</Callout>
              <TextInput label={t("danger.typeName", { name: broker })} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoComplete="off" />
            </>
          )}
          {refused && <PreviewFailed error={refused} />}
          {planned && <ChangePlan plan={planned} leastNow={leastNow} />}
        </>
      )}
    </FormDrawer>
  )
}

const isSame = (one: ReplicaPolicy | undefined, other: ReplicaPolicy) =>
  one?.min_in_sync === other.min_in_sync && one.unclean_allowed === other.unclean_allowed
