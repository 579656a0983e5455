import { Button, TextInput } from "@mantine/core"
import type { TFunction } from "i18next"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Callout } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Cluster, ProbeReport, TlsInput } from "@/lib/api-types"
import type { CurlRequest } from "@/lib/curl"
import { asProblem } from "@/lib/problem"
import { isAddress, MOST_NAME_SERVERS } from "../addresses"
import { useCreateCluster } from "../api/create-cluster"
import { useProbe } from "../api/probe-cluster"
import { useUpdateCluster } from "../api/update-cluster"
import { type AccountChange, type AccountDraft, AccountFields, changeOf, isWhole, triedAs, withoutSecret } from "./account-fields"
import { AddressMap } from "./address-map"
import { ProbeSteps } from "./probe-steps"
import { shownTls, type TlsDraft, TlsFields, tlsDraftOf, tlsInputOf } from "./tls-fields"

interface ClusterFormProps {
  /** The one to change; without it a new one is added. */
  cluster?: Cluster
  onClose: () => void
}

interface Draft extends AccountDraft {
  name: string
  servers: string
  map: Record<string, string>
  tls: TlsDraft
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/
const listOf = (text: string) => text.split(/[;,\s]+/).filter(Boolean)
const filled = (map: Record<string, string>) => Object.fromEntries(Object.entries(map).flatMap(([announced, to]) => (to.trim() === "" ? [] : [[announced, to.trim()]])))

/** A cluster is added or changed only after its connection was tried; what failed is named on the button. */
export function ClusterForm({ cluster, onClose }: ClusterFormProps) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<Draft>(() => draftOf(cluster))
  const probe = useProbe()
  const save = useSave(cluster, onClose)
  const connection = { name_servers: listOf(draft.servers), address_map: filled(draft.map), ...changeOf(draft, cluster), ...tlsInputOf(draft.tls, cluster?.tls) }
  const tried = { ...connection, ...triedAs(draft, cluster), ...storedKeyOf(cluster) }
  const report = isSame(probe.variables, tried) ? probe.data : undefined
  const refused = probe.error && isSame(probe.variables, tried) ? asProblem(probe.error).fields.tls : undefined
  const isReady = NAME.test(draft.name) && areWhole(connection) && isWhole(draft, cluster)
  const tryIt = () => probe.mutate(tried, { onError: (error) => toastFailed(t("clusters.notTried"), error, ["tls"]) })
  return (
    <FormDrawer
      title={cluster ? t("clusters.editNamed", { name: cluster.name }) : t("clusters.addTitle")}
      action={report ? actionOf(t, report, cluster ? "save" : "add") : t("clusters.try")}
      right="admin"
      isReady={isReady}
      isBusy={probe.isPending || save.isPending}
      onSubmit={() => (report ? save.send(draft.name, connection) : tryIt())}
      onClose={onClose}
      request={requestOf(cluster, draft.name, connection)}
    >
      <Fields draft={draft} isNew={!cluster} onChange={(change) => setDraft({ ...draft, ...change })} />
      <AccountFields draft={draft} cluster={cluster} onChange={(change) => setDraft({ ...draft, ...change })} />
      <TlsFields draft={draft.tls} hasKey={hasKey(cluster)} refused={refused} onChange={(change) => setDraft({ ...draft, tls: { ...draft.tls, ...change } })} />
      {report && <ProbeSteps report={report} except={cluster?.name} />}
      {report && <Silent report={report} />}
      <AddressMap report={probe.data} map={draft.map} onMap={(map) => setDraft({ ...draft, map })} />
      {report && (
        <Button variant="subtle" onClick={tryIt} loading={probe.isPending}>
          {t("clusters.tryAgain")}
        </Button>
      )}
    </FormDrawer>
  )
}

const hasKey = (cluster: Cluster | undefined) => cluster?.tls?.has_key ?? false

/** The stored key of a cluster is never here: the server takes it for the try. */
const storedKeyOf = (cluster: Cluster | undefined) => (cluster && hasKey(cluster) ? { cluster: cluster.name } : {})

const areWhole = ({ name_servers: servers, address_map: map }: Connection) =>
  servers.length > 0 && servers.length <= MOST_NAME_SERVERS && [...servers, ...Object.values(map)].every(isAddress)

const draftOf = (cluster: Cluster | undefined): Draft =>
  cluster
    ? { name: cluster.name, servers: cluster.name_servers.join("; "), map: cluster.address_map, accessKey: cluster.access_key ?? "", secretKey: "", tls: tlsDraftOf(cluster.tls) }
    : { name: "", servers: "", map: {}, accessKey: "", secretKey: "", tls: tlsDraftOf(null) }

const requestOf = (cluster: Cluster | undefined, name: string, connection: Connection): CurlRequest =>
  cluster
    ? { method: "PATCH", path: paths.cluster(cluster.name), body: shownTls(withoutSecret(connection)) }
    : { method: "POST", path: paths.clusters, body: { name, ...shownTls(withoutSecret(connection)) } }

interface FieldsProps {
  draft: Draft
  isNew: boolean
  onChange: (change: Partial<Draft>) => void
}

function Fields({ draft, isNew, onChange }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t("clusters.name")}
        description={t("clusters.nameWords")}
        value={draft.name}
        disabled={!isNew}
        error={draft.name === "" || NAME.test(draft.name) ? null : t("clusters.nameWrong")}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t("clusters.servers")}
        description={t("clusters.serversWords")}
        placeholder="10.6.10.11:9876; 10.6.10.12:9876"
        value={draft.servers}
        error={serversFault(t, listOf(draft.servers))}
        onChange={(event) => onChange({ servers: event.currentTarget.value })}
      />
    </>
  )
}

function serversFault(t: TFunction, servers: string[]): string | null {
  if (servers.length > MOST_NAME_SERVERS) return t("details.tooMany", { n: MOST_NAME_SERVERS })
  const wrong = servers.find((server) => !isAddress(server))
  return wrong === undefined ? null : t("details.hostPort", { name: wrong })
}

const isSame = (tried: unknown, wanted: unknown) => JSON.stringify(tried) === JSON.stringify(wanted)

const ACTIONS = {
  add: { whole: "clusters.add", partly: "clusters.addPartly", unknown: "clusters.addUnknown" },
  save: { whole: "clusters.save", partly: "clusters.savePartly", unknown: "clusters.saveUnknown" },
} as const

/** Names the compromise, if it is one. */
function actionOf(t: TFunction, { brokers, brokers_reachable: reachable }: ProbeReport, act: keyof typeof ACTIONS): string {
  const how = brokers.length === 0 ? "unknown" : reachable < brokers.length ? "partly" : "whole"
  return t(ACTIONS[act][how], { n: reachable, total: brokers.length })
}

function Silent({ report }: { report: ProbeReport }) {
  const { t } = useTranslation()
  const silent = report.brokers.filter(({ reachable }) => !reachable)
  if (report.brokers.length === 0) return <Callout>{t("clusters.nothingKnown")}</Callout>
  if (silent.length === 0) return null
  return <Callout>{t("clusters.notReached", { brokers: silent.map(({ name, announced }) => `${name} (${announced})`).join(t("list.comma")) })}</Callout>
}

interface Connection extends AccountChange {
  name_servers: string[]
  address_map: Record<string, string>
  tls?: TlsInput | null
}

function useSave(cluster: Cluster | undefined, onClose: () => void) {
  const { t } = useTranslation()
  const create = useCreateCluster()
  const update = useUpdateCluster(cluster ?? NOBODY)
  const send = (name: string, connection: Connection) => {
    const told = {
      onSuccess: () => {
        toastDone(t(cluster ? "clusters.saved" : "clusters.added", { name }))
        onClose()
      },
      onError: (error: unknown) => toastFailed(t(cluster ? "clusters.notSaved" : "clusters.notAdded", { name }), error),
    }
    if (cluster) update.mutate(connection, told)
    else create.mutate({ name, ...connection }, told)
  }
  return { send, isPending: create.isPending || update.isPending }
}

/** Stands for the cluster that does not exist yet: nothing is sent for it. */
const NOBODY: Cluster = { name: "", kind: "rocketmq", name_servers: [], address_map: {}, access_key: null, tls: null, brokers: null, brokers_answering: null, version: null, reachable: false, reason: null, same_brokers: [], etag: "" }
