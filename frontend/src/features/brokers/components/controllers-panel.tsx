import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { QueryPanel } from "@/components/states/query-panel"
import type { Controllers } from "@/lib/api-types"
import { useControllers } from "../api/get-controllers"
import { engineServers } from "../engine-servers"
import { ControllersTable } from "./controllers-table"
import { EngineTable } from "./engine-table"

/** Who decides which replica is master, and what keeps the decisions. Nothing where no name server hosts a controller. */
export function ControllersPanel({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const query = useControllers(cluster)
  // Before the first answer nothing says that there are any.
  if (query.data === undefined || query.data.controllers.length === 0) return null
  return (
    <QueryPanel query={query} title={t("controllers.title")} note={t("controllers.note")} what={t("controllers.failed")}>
      {(known) => (
        <>
          <Troubles of={known} />
          <ControllersTable controllers={known.controllers} />
          <EngineTable servers={engineServers(known.controllers)} />
        </>
      )}
    </QueryPanel>
  )
}

/** What keeps controllers from deciding. */
function Troubles({ of: { leader, controllers } }: { of: Controllers }) {
  const { t } = useTranslation()
  const answering = controllers.filter(({ reachable }) => reachable)
  const named = (of: (each: Controllers["controllers"][number]) => string[]) => [...new Set(answering.flatMap(of))].sort().join(t("list.comma"))
  const alarms = named(({ alarms: raised }) => raised ?? [])
  const setBack = named(({ set_back: names }) => names)
  const unsettled = named(({ unsettled: names }) => names)
  return (
    <>
      {answering.length === 0 && <Callout tone="crit">{t("controllers.silent")}</Callout>}
      {answering.length > 0 && leader === null && <Callout tone="crit">{t("controllers.leaderless")}</Callout>}
      {alarms !== "" && <Callout tone="crit">{t("controllers.alarms", { alarms })}</Callout>}
      {setBack !== "" && <Callout tone="crit">{t("controllers.setBack", { names: setBack })}</Callout>}
      {unsettled !== "" && <Callout>{t("controllers.unsettled", { names: unsettled })}</Callout>}
    </>
  )
}
