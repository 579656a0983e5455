import { Button } from "@mantine/core"
import type { TFunction } from "i18next"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Page } from "@/components/layout/page"
import { NeedsRight } from "@/components/forms/lock"
import { Callout } from "@/components/layout/panel"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable, Unknown } from "@/components/values/num"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import type { Replica, Replicas } from "@/lib/api-types"
import { isStoredOnly, whyIn } from "@/lib/decisions"
import { bytes } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useReplicas } from "../api/get-replicas"
import { AddReplica } from "./add-replica"
import { AdoptState } from "./adopt-state"
import { ChangePolicy } from "./change-policy"
import { HeldReplicas } from "./held-replicas"
import { ReplicaTimeline } from "./replica-timeline"
import { ReplicasTable } from "./replicas-table"
import { StreamsTable } from "./streams-table"
import classes from "./replicas.module.css"

interface ReplicasPageProps {
  cluster: string
  broker: string
  /** What forgets a process that no name server lists any more. */
  forget?: (gone: Replica) => ReactNode
  /** Panels of other features, under the replicas. */
  children?: ReactNode
}

/** One broker name: who is master, and how far each of the others is behind. */
export function ReplicasPage({ cluster, broker, forget, children }: ReplicasPageProps) {
  const { t } = useTranslation()
  const query = useReplicas(cluster, broker)
  const known = query.data
  const [form, setForm] = useState<"add" | "policy" | "adopt" | null>(null)
  const close = () => setForm(null)
  const leastNow = (known?.told ?? known?.failover)?.effective_min_in_sync ?? null
  const forms = {
    add: known && <AddReplica cluster={cluster} broker={broker} replicas={known.replicas} onClose={close} />,
    policy: <ChangePolicy cluster={cluster} broker={broker} leastNow={leastNow} onClose={close} />,
    adopt: known && <AdoptState cluster={cluster} broker={broker} replicas={known.replicas} leastNow={leastNow} onClose={close} />,
  }
  return (
    <DockedPage drawer={form && forms[form]}>
      <Page
        title={broker}
        updatedAt={query.dataUpdatedAt}
        facts={known && factsOf(t, known.replicas)}
        actions={
          <>
            <FormButtons replicas={known} onOpen={setForm} />
            <CurlButton request={{ path: paths.replicas(cluster, broker) }} />
          </>
        }
      >
        {known && <Banners replicas={known} onAdopt={() => setForm("adopt")} />}
        {known && <Figures replicas={known} />}
        <QueryPanel query={query} title={t("replicas.title")} note={t("replicas.note")} what={t("replicas.failed", { broker })}>
          {(replicas) => <ReplicasTable cluster={cluster} of={replicas} forget={forget} />}
        </QueryPanel>
        {known && <StreamsTable of={known} />}
        {known?.mode === "failover" && <ReplicaTimeline cluster={cluster} of={known} />}
        {children}
      </Page>
    </DockedPage>
  )
}

/** How many answer, and how many of these take no part. */
function factsOf(t: TFunction, replicas: readonly Replica[]): string {
  const answering = t("replicas.answering", { n: replicas.filter(({ reachable }) => reachable).length, count: replicas.length })
  const held = replicas.filter((each) => each.held).length
  return held === 0 ? answering : [answering, t("replicas.held.count", { count: held })].join(t("list.comma"))
}

/** What may be asked of controllers that tell what they decided. */
function FormButtons({ replicas, onOpen }: { replicas: Replicas | undefined; onOpen: (form: "add" | "policy") => void }) {
  const { t } = useTranslation()
  if (!replicas?.failover) return null
  return (
    <>
      <FormButton words={t("replicas.add.open")} onOpen={() => onOpen("add")} />
      <FormButton words={t("replicas.policy.open")} onOpen={() => onOpen("policy")} />
    </>
  )
}

/** Opens a form beside the page; without the right it stays visible, and says which is missing. */
function FormButton({ words, onOpen }: { words: string; onOpen: () => void }) {
  return (
    <NeedsRight right="admin">
      <Button onClick={onOpen}>{words}</Button>
    </NeedsRight>
  )
}

/** What stops sends or decisions, and needs somebody. */
function Banners({ replicas, onAdopt }: { replicas: Replicas; onAdopt: () => void }) {
  return (
    <>
      <NotTold of={replicas} />
      <Troubles of={replicas} onAdopt={onAdopt} />
      <HeldReplicas replicas={replicas.replicas} />
    </>
  )
}

/** Who does not tell what is decided, and what is known all the same. */
function NotTold({ of: { failover_reason: reason, told, last_known: last, silent_name_servers: silent } }: { of: Replicas }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      {reason !== null && (
        <Callout>
          {t("replicas.noController", { reason: reasonIn(t, reason) })} {told && t("replicas.toldInstead")}
        </Callout>
      )}
      {last && (
        <Callout>
          {t(last.master_id === null ? "replicas.lastLeaderless" : "replicas.lastLed", { epoch: last.epoch, master: last.master_id, ids: last.in_sync.join(", "), time: format.when(last.at ?? last.seen_at, true) })}
        </Callout>
      )}
      {silent.length > 0 && <Callout>{t("replicas.silentServers", { servers: silent.map(({ address }) => address).join(t("list.comma")) })}</Callout>}
    </>
  )
}

function Troubles({ of: { failover, told, may_adopt: mayAdopt }, onAdopt }: { of: Replicas; onAdopt: () => void }) {
  const { t } = useTranslation()
  const now = told ?? failover
  return (
    <>
      {mayAdopt && (
        <Callout tone="crit">
          {t(failover ? "replicas.setBack" : "replicas.lost")} {told && failover && <Older of={failover} />} <FormButton words={t("replicas.adopt.open")} onOpen={onAdopt} />
        </Callout>
      )}
      {failover?.stuck != null && <Callout tone="crit">{t("replicas.stuck", { reason: reasonIn(t, failover.stuck) })}</Callout>}
      {now?.writable === false && now.writable_reason !== failover?.stuck && <Callout tone="crit">{notTaken(t, now.writable_reason ?? "")}</Callout>}
      {now?.writable === null && <Callout>{t("replicas.writableUnknown", { reason: reasonIn(t, now.writable_reason ?? "") })}</Callout>}
    </>
  )
}

/** What the engine holds that was restored from a copy; replicas know something newer, which is shown. */
function Older({ of: { epoch, master_id: master } }: { of: NonNullable<Replicas["failover"]> }) {
  const { t } = useTranslation()
  return <>{t(master === null ? "replicas.olderLeaderless" : "replicas.older", { epoch, master })}</>
}

/** Why a send gets no success: it is refused, or stored and not confirmed. */
const notTaken = (t: TFunction, reason: string) => (isStoredOnly(reason) ? t("replicas.storedOnly", { reason: sentence(reasonIn(t, reason)) }) : t("replicas.refusesNow", { reason: reasonIn(t, reason) }))

function Figures({ replicas: { mode, master_id: masterId, replicas, failover, told } }: { replicas: Replicas }) {
  const { t } = useTranslation()
  const format = useFormat()
  const master = replicas.find(({ broker_id: id }) => id === masterId)
  const slaves = replicas.filter(({ role, held }) => role !== "master" && !held)
  const silent = replicas.filter(({ reachable }) => !reachable)
  const isMasterSilent = master?.reachable !== true
  const now = told ?? failover
  const noMaster = t(now ? "decisions.notElected" : mode === "failover" ? "replicas.masterUnknown" : "replicas.noMaster")
  return (
    <TitleBlock
      figures={[
        {
          label: t("replicas.master"),
          value: master ? master.broker_id : <Unknown reason={noMaster} />,
          fact: !master ? noMaster : isMasterSilent ? t("cluster.silent") : <Address of={master.address} />,
          tone: isMasterSilent ? "crit" : undefined,
        },
        ...(now ? decided(now, isMasterSilent, t) : []),
        {
          label: t("replicas.silent"),
          value: silent.length,
          fact: silent.length > 0 ? t("replicas.silentIds", { ids: silent.map(({ broker_id: id }) => id).join(", ") }) : t("replicas.allAnswer"),
          tone: silent.length > 0 ? "warn" : undefined,
        },
        ...heldOf(t, replicas),
        { label: t("replicas.furthest"), ...furthest(slaves, format.duration, t("replicas.unknownOf"), noSlaveIn(t, replicas)) },
        { label: t("replicas.end"), value: master?.log_end == null ? <Unknown reason={master?.reason} /> : bytes(master.log_end), fact: t("replicas.endWords") },
      ]}
    />
  )
}

/** Those that take no part by themselves; no figure where there are none. */
function heldOf(t: TFunction, replicas: readonly Replica[]): KeyFigure[] {
  const ids = replicas.filter((each) => each.held).map(({ broker_id: id }) => id)
  return ids.length === 0 ? [] : [{ label: t("replicas.held.label"), value: ids.length, fact: t("replicas.silentIds", { ids: ids.join(", ") }), tone: "crit" }]
}

const noSlaveIn = (t: TFunction, replicas: readonly Replica[]) => t(replicas.some((each) => each.held) ? "replicas.held.noneFollows" : "replicas.noSlave")

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

/** The slave that lacks most; one of which that is not known comes first, because it may lack more. */
function furthest(slaves: Replica[], duration: (ms: number) => string, unknown: string, none: string) {
  if (slaves.length === 0) return { value: <NotApplicable />, fact: none }
  if (slaves.some(({ behind_bytes: lacking }) => lacking === null)) return { value: <Unknown />, fact: unknown, tone: "warn" as const }
  const last = slaves.reduce((most, each) => ((each.behind_bytes ?? 0) > (most.behind_bytes ?? 0) ? each : most))
  return { value: bytes(last.behind_bytes ?? 0), fact: last.behind_ms === null ? "—" : duration(last.behind_ms) }
}

/** A line breaks behind the host, never inside the port. */
function Address({ of: address }: { of: string }) {
  const end = address.lastIndexOf(":") + 1
  return (
    <span>
      {address.slice(0, end)}
      <wbr />
      <span className={classes.port}>{address.slice(end)}</span>
    </span>
  )
}

/**
 * Epoch and in-sync set; the set is warm while a replica is missing in it, or while none may fail. Under a silent master
 * that one and who else is silent are the two warm cells.
 */
function decided({ epoch, last, in_sync: set, replicas, min_in_sync: policy, effective_min_in_sync: effective }: NonNullable<Replicas["told"]>, isMasterSilent: boolean, t: TFunction): KeyFigure[] {
  const least = effective ?? policy
  const isShort = set.length < least
  const enough = effective === null ? "replicas.enoughByPolicy" : set.length === effective ? "replicas.enoughBarely" : "replicas.enough"
  return [
    { label: t("replicas.epoch"), value: epoch, fact: <span className={classes.wrapped}>{t("replicas.lastChange", { why: whyIn(t, last.why) })}</span> },
    {
      label: t("replicas.set"),
      value: set.join(", "),
      fact: <span className={classes.wrapped}>{isShort ? t("replicas.fewer", { n: set.length, count: least }) : t(enough, { count: least })}</span>,
      tone: isMasterSilent ? undefined : isShort ? "crit" : set.length < replicas.length || set.length === effective ? "warn" : undefined,
    },
  ]
}
