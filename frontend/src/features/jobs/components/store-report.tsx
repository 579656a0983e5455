import { IconCircleCheck, IconRefreshAlert } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge, Chip } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { useUrlState } from "@/hooks/use-url-state"
import { count } from "@/lib/format"
import { faultsIn, type Fault, kindOfFault, type StoreFindings, toldIn } from "../store-findings"
import classes from "./jobs.module.css"

const ALWAYS = ["records", "units", "keys", "index_entries"] as const
const IF_ANY = ["orphans", "purged", "expired_entries", "pending"] as const

/** What a store that was checked against itself holds, and where its log, queues and index disagree. */
export function StoreReport({ findings }: { findings: StoreFindings }) {
  const { t } = useTranslation()
  const { tiles } = findings
  const total = faultsIn(findings)
  const figures: KeyFigure[] = [...ALWAYS, ...IF_ANY.filter((name) => tiles[name] > 0)].map((name) => ({
    label: t(`storeCheck.tiles.${name}`),
    value: count(tiles[name]),
    fact: t(`storeCheck.words.${name}`),
  }))
  return (
    <>
      <TitleBlock
        figures={[
          { label: t("storeCheck.faults"), value: count(total), fact: total > 0 ? t("storeCheck.disagree") : t("reconcile.noneFound"), tone: total > 0 ? "crit" : undefined },
          ...figures,
        ]}
      />
      <Faults findings={findings} total={total} />
    </>
  )
}

const column = columnsFor<Fault>()

function Faults({ findings, total }: { findings: StoreFindings; total: number }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const told = useMemo(() => toldIn(findings), [findings])
  const columns = useMemo(
    () => [
      column("kind", t("reconcile.kind"), {}, ({ kind }) => t(`storeCheck.kinds.${kind}`)),
      column("place", t("storeCheck.found"), { isName: true }, ({ text }) => <span className="mono">{text}</span>),
    ],
    [t],
  )
  const kinds = Object.entries(findings.faults)
  const chosen = kinds.some(([kind]) => kind === state.kind) ? told.filter(({ name }) => name === state.kind) : told
  return (
    <Panel>
      {total > 0 && (
        <div className={classes.filters}>
          <Chip isOn={chosen === told} count={count(total)} onClick={() => change({ kind: undefined })}>
            {t("jobs.all")}
          </Chip>
          {kinds.map(([kind, number]) => (
            <Chip key={kind} isOn={kind === state.kind} count={count(number)} onClick={() => change({ kind })}>
              {t(`storeCheck.kinds.${kindOfFault(kind)}`)}
            </Chip>
          ))}
          {told.length < total && <span className="micro">{t("storeCheck.firstOnly", { n: count(told.length), total: count(total) })}</span>}
        </div>
      )}
      {total === 0 ? (
        <Empty small title={t("storeCheck.sound")} next={t("storeCheck.soundNext")} />
      ) : (
        <DataTable natural label={t("storeCheck.faults")} columns={columns} rows={chosen} rowId={({ id }) => id} />
      )}
    </Panel>
  )
}

/** How a check ended, in one word and one number. */
export function StoreBadge({ findings }: { findings: StoreFindings }) {
  const { t } = useTranslation()
  const total = faultsIn(findings)
  return (
    <Badge tone={total > 0 ? "crit" : "ok"} icon={total > 0 ? IconRefreshAlert : IconCircleCheck}>
      {total > 0 ? t("storeCheck.finished", { count: total, n: count(total) }) : t("storeCheck.isSound")}
    </Badge>
  )
}
