import { Checkbox, Stack, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Replica } from "@/lib/api-types"
import { type Adoption, useAdoptState } from "../api/adopt-state"
import { usePreviewAdoption } from "../api/preview-adoption"
import { ChangePlan } from "./change-plan"
import { PreviewFailed } from "./preview-failed"

interface AdoptStateProps {
  cluster: string
  broker: string
  replicas: readonly Replica[]
  leastNow: number | null
  onClose: () => void
}

/** Goes on after the engine was set back: with which replicas, an operator says, and types the name. */
export function AdoptState({ cluster, broker, replicas, leastNow, onClose }: AdoptStateProps) {
  const { t } = useTranslation()
  const preview = usePreviewAdoption(cluster, broker)
  const adopt = useAdoptState(cluster, broker)
  const [ids, setIds] = useState<string[]>([])
  const [name, setName] = useState("")
  const [typed, setTyped] = useState("")
  const wanted: Adoption = { in_sync: ids.map(Number).sort((one, other) => one - other), of_cluster: name.trim() }
  const planned = isSame(preview.variables, wanted) ? preview.data : undefined
  const refused = isSame(preview.variables, wanted) ? preview.error : null
  const failed = (error: unknown) => {
    toastFailed(t("replicas.adopt.failed", { broker }), error)
    preview.reset()
  }
  const submit = () => {
    if (!planned?.plan) return preview.mutate(wanted)
    adopt.mutate({ ...wanted, plan: planned.plan }, { onSuccess: done, onError: failed })
  }
  const done = () => {
    toastDone(t("replicas.adopt.done", { broker, ids: wanted.in_sync.join(", ") }))
    onClose()
  }
  return (
    <FormDrawer
      title={t("replicas.adopt.title", { broker })}
      action={planned ? t("replicas.adopt.do", { ids: wanted.in_sync.join(", ") }) : t("replicas.preview")}
      right="admin"
      isReady={ids.length > 0 && wanted.of_cluster !== "" && (!planned || typed === broker)}
      isBusy={preview.isPending || adopt.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "POST", path: paths.adoptReplicas(cluster, broker), body: wanted }}
    >
      <p>{t("replicas.adopt.words")}</p>
      <Checkbox.Group label={t("replicas.adopt.which")} description={t("replicas.adopt.whichWords")} value={ids} onChange={setIds}>
        <Stack gap={6} mt={6}>
          {replicas.map(({ broker_id: id, address, reachable }) => (
            <Checkbox key={id} value={String(id)} label={t(reachable ? "replicas.adopt.replica" : "replicas.adopt.silentReplica", { id, address })} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput label={t("replicas.adopt.cluster")} description={t("replicas.adopt.clusterWords")} value={name} onChange={(event) => setName(event.currentTarget.value)} autoComplete="off" />
      {refused && <PreviewFailed error={refused} />}
      {planned && (
        <>
          <ChangePlan plan={planned} leastNow={leastNow} />
          <TextInput label={t("danger.typeName", { name: broker })} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoComplete="off" />
        </>
      )}
    </FormDrawer>
  )
}

const isSame = (one: Adoption | undefined, other: Adoption) =>
  one?.of_cluster === other.of_cluster && one.in_sync.join() === other.in_sync.join()
