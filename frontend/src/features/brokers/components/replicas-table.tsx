import { IconAlertTriangle, IconCircleCheck, IconCopy, IconCrown, IconPlugConnectedX, IconRefresh } from "@tabler/icons-react"
import { type ReactNode, useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { HeldState } from "@/components/badges/held-state"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { LagRail, UnknownRail } from "@/components/rail/rail"
import { NotApplicable, Num, Unknown } from "@/components/values/num"
import { Ago, Duration } from "@/components/values/time"
import { usePhone } from "@/hooks/use-media"
import type { Replica, Replicas } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { ReplicaMenu } from "./replica-menu"
import classes from "./replicas.module.css"

const column = columnsFor<Replica>()
/** The least scale of the rails: a lag that is caught up within a tenth of a second looks small. */
const LEAST_SCALE = 10_000_000

interface ReplicasTableProps {
  cluster: string
  of: Replicas
  /** What forgets a process that no name server lists any more. */
  forget?: (gone: Replica) => ReactNode
}

/** One row for each process of a broker name. All rails share one scale: the largest lag, but at least 10 MB. */
export function ReplicasTable({ cluster, of: { broker, mode, replicas, failover, told }, forget }: ReplicasTableProps) {
  const { t } = useTranslation()
  const isMissed = mode === "static" && replicas.some(isGone)
  const now = told ?? failover
  const isLed = now !== null
  // What controllers do not tell they do not change either.
  const isChangeable = failover !== null
  // A dead master stays the master that was decided, until there is another one.
  const isStuck = isChangeable && (failover.master_id === null || failover.stuck !== null)
  const leastNow = now?.effective_min_in_sync ?? null
  const isPhone = usePhone()
  const scale = Math.max(LEAST_SCALE, ...replicas.map(({ behind_bytes: lacking }) => lacking ?? 0))
  const columns = useMemo(
    () => [
      column("id", t("replicas.id"), { isName: true, width: 56 }, ({ broker_id: id }) => id),
      column("role", t("broker.role"), {}, ({ role }) => <Role role={role} />),
      column("state", t("broker.state"), {}, (replica) => (
        <>
          <State replica={replica} /> {isPhone && isLed && <InSet replica={replica} />}
        </>
      )),
      ...(isLed && !isPhone ? [column("set", t("replicas.set"), { minWidth: 420 }, (replica) => <InSet replica={replica} />)] : []),
      column("address", t("broker.address"), { isSecondary: true, minWidth: 700 }, ({ address }) => <span className="mono">{address}</span>),
      column("end", t("replicas.end"), { align: "end", isSecondary: true, minWidth: 760 }, ({ log_end: end, reason }) => <Num value={end} write={count} reason={reason} />),
      ...(isLed
        ? [column("confirm", t("replicas.confirm"), { align: "end", isSecondary: true, minWidth: 940 }, ({ failover: own, reason }) => <Num value={own?.confirm} write={count} reason={reason} />)]
        : []),
      column("behind", t("replicas.behind"), { align: "end", isStrong: true }, (replica) => (
        <>
          <Behind replica={replica} />
          {isPhone && replica.role !== "master" && (
            <small className={classes.under}>
              <InTime replica={replica} />
            </small>
          )}
        </>
      )),
      column("rail", t("replicas.behind"), { width: 180, minWidth: 880, ends: [bytes(scale), bytes(0)] }, (replica) => <Rail replica={replica} scale={scale} />),
      ...(isPhone ? [] : [column("time", t("replicas.inTime"), { align: "end", minWidth: 480 }, (replica) => <InTime replica={replica} />)]),
      column("started", t("replicas.started"), { align: "end", isSecondary: true, minWidth: 980 }, ({ started_at: at }) => <Ago at={at} />),
      ...(isChangeable ? [column("actions", "", { align: "end" }, (replica) => <ReplicaMenu cluster={cluster} broker={broker} replica={replica} isStuck={isStuck} leastNow={leastNow} />)] : []),
      ...(isMissed && forget ? [column("forget", "", { align: "end" }, (replica) => isGone(replica) && forget(replica))] : []),
    ],
    [t, isPhone, scale, isLed, isChangeable, isStuck, leastNow, cluster, broker, isMissed, forget],
  )
  return <DataTable natural label={t("replicas.title")} columns={columns} rows={[...replicas]} rowId={({ broker_id: id }) => String(id)} />
}

/** No name server lists it; while none answers nothing says that it is gone. */
const isGone = ({ listed, last_seen_at: seen }: Replica) => listed === false && seen !== null

/** How far it is behind; a silent one has no place on the rail, be it master or slave. Warm is what sends do not count on. */
function Rail({ replica: { role, reachable, behind_bytes: lacking, failover }, scale }: { replica: Replica; scale: number }) {
  if (!reachable) return <UnknownRail />
  if (role === "master") return <LagRail lag={0} scale={scale} tone="ours" />
  const isFar = failover ? !failover.in_sync : (lacking ?? 0) >= LEAST_SCALE
  return <LagRail lag={lacking} scale={scale} tone={lacking && isFar ? "growing" : "normal"} />
}

function Role({ role }: { role: Replica["role"] }) {
  const { t } = useTranslation()
  if (role === null) return <Unknown reason={t("replicas.masterUnknown")} />
  return (
    <Badge tone="quiet" icon={role === "master" ? IconCrown : IconCopy}>
      {t(`replicas.roles.${role}`)}
    </Badge>
  )
}

function InSet({ replica: { failover } }: { replica: Replica }) {
  const { t } = useTranslation()
  if (!failover) return <NotApplicable />
  if (!failover.clean)
    return (
      <Badge tone="crit" icon={IconAlertTriangle}>
        {t("replicas.unclean")}
      </Badge>
    )
  return (
    <Badge tone={failover.in_sync ? "quiet" : "warn"} icon={failover.in_sync ? IconCircleCheck : IconRefresh}>
      {t(failover.in_sync ? "replicas.inSet" : "replicas.outOfSet")} {failover.in_sync_since && <Ago at={failover.in_sync_since} />}
    </Badge>
  )
}

function State({ replica: { reachable, reason, last_seen_at: seen, held } }: { replica: Replica }) {
  const { t } = useTranslation()
  if (held) return <HeldState held={held} className={classes.reason} />
  return reachable ? (
    <Badge tone="quiet" icon={IconCircleCheck}>
      {t("broker.answers")}
    </Badge>
  ) : (
    <>
      <Badge tone="crit" icon={IconPlugConnectedX}>
        <span className={classes.reason}>{reason ? reasonIn(t, reason) : t("cluster.silent")}</span>
      </Badge>
      {seen && (
        <small className={classes.seen}>
          {t("replicas.lastSeen")} <Ago at={seen} />
        </small>
      )}
    </>
  )
}

function Behind({ replica: { role, behind_bytes: lacking, reachable, reason, held } }: { replica: Replica }) {
  const { t } = useTranslation()
  if (role === "master") return <NotApplicable />
  if (held) return <Num value={null} reason={t("replicas.held.notBehind")} />
  return <Num value={lacking} write={bytes} reason={reachable ? t("replicas.noMasterEnd") : reason} />
}

function InTime({ replica: { role, behind_ms: ms, behind_bytes: lacking, reason, held } }: { replica: Replica }) {
  const { t } = useTranslation()
  if (role === "master") return <NotApplicable />
  if (held) return <Num value={null} reason={t("replicas.held.notBehind")} />
  if (ms === null) return <Num value={null} reason={lacking === null ? reason : t("replicas.noTime")} />
  return <Duration ms={ms} />
}
