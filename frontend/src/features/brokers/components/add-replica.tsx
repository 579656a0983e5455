import { TextInput } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Callout } from "@/components/layout/panel"
import type { NewReplica, Replica } from "@/lib/api-types"
import { bytes } from "@/lib/format"
import { usePreviewNewReplica } from "../api/preview-new-replica"
import { NewReplicaPlan } from "./new-replica-plan"
import { PreviewFailed } from "./preview-failed"
import classes from "./replicas.module.css"

interface AddReplicaProps {
  cluster: string
  broker: string
  replicas: readonly Replica[]
  onClose: () => void
}

const PORT = { min: 1, max: 65_534 }
const TYPED_MS = 400

/** What one more replica would do, and how its process is started on its machine; says when it has come. */
export function AddReplica({ cluster, broker, replicas, onClose }: AddReplicaProps) {
  const { t } = useTranslation()
  const [before] = useState(() => new Set(replicas.map(({ broker_id: id }) => id)))
  const [host, setHost] = useState("")
  const [port, setPort] = useState<number | undefined>()
  const [typedHost] = useDebouncedValue(host.trim(), TYPED_MS)
  const [typedPort] = useDebouncedValue(port, TYPED_MS)
  const isPort = typedPort !== undefined && isWithin(typedPort, PORT)
  const preview = usePreviewNewReplica(cluster, broker, { ...(typedHost && { address: typedHost }), ...(isPort && { port: typedPort }) })
  const plan = preview.data
  const title = t("replicas.add.title", { broker })
  return (
    <DockedDrawer label={title} onClose={onClose}>
      <div className={classes.add}>
        <h2>{title}</h2>
        {replicas.filter(({ broker_id: id }) => !before.has(id)).map((each) => <Came key={each.broker_id} replica={each} />)}
        <p>{t("replicas.add.words")}</p>
        {(plan === undefined || plan.file !== null) && (
          <div className={classes.place}>
            <TextInput label={t("replicas.add.address")} description={t("replicas.add.addressWords")} value={host} onChange={(event) => setHost(event.currentTarget.value)} autoComplete="off" />
            <NumberField {...PORT} isOptional width="100%" label={t("replicas.add.port")} description={t("replicas.add.portWords")} value={port} onChange={setPort} />
          </div>
        )}
        {preview.error && <PreviewFailed error={preview.error} retry={() => void preview.refetch()} />}
        {plan && !preview.error && (
          <>
            <NewReplicaPlan plan={plan} />
            {plan.refused !== null ? <Callout tone="crit">{t(`replicas.add.refused.${plan.refused}`)}</Callout> : <Start plan={plan} />}
          </>
        )}
      </div>
    </DockedDrawer>
  )
}

/** The file and the command, with what the file lacks; or the command alone where `make up` starts all of them. */
function Start({ plan: { file, configuration, command, missing } }: { plan: NewReplica }) {
  const { t } = useTranslation()
  return (
    <>
      {file === null || configuration === null ? (
        <p>{t("replicas.add.hereFirst")}</p>
      ) : (
        <>
          <p>{t("replicas.add.file", { file })}</p>
          <CodeBlock wrap label={file} text={configuration} />
          {missing.map((each) => (
            <Callout key={each}>{t(`replicas.add.missing.${each}`)}</Callout>
          ))}
          <p>{t("replicas.add.start")}</p>
        </>
      )}
      <CodeBlock wrap label={t("replicas.add.start")} text={command} />
    </>
  )
}

/** A replica that was not there when the form was opened. */
function Came({ replica: { broker_id: id, address, behind_bytes: lacking, failover } }: { replica: Replica }): ReactNode {
  const { t } = useTranslation()
  const words = failover?.in_sync ? "replicas.add.joined" : lacking === null ? "replicas.add.coming" : "replicas.add.copying"
  return (
    <p role="status" className={classes.came}>
      {t(words, { id, address: address || "—", bytes: bytes(lacking ?? 0) })}
    </p>
  )
}
