import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Page } from "@/components/layout/page"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Ident } from "@/components/values/ident"
import { NotApplicable } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { paths } from "@/config/paths"
import { useAskedFilter } from "@/hooks/use-asked-filter"
import { useUrlState } from "@/hooks/use-url-state"
import type { AuditEntry } from "@/lib/api-types"
import { type AuditFilter, useAudit } from "../api/get-audit"
import { useAuditWords } from "../use-sentence"
import { AuditDrawer } from "./audit-drawer"
import classes from "./audit.module.css"
import { AuditFilters } from "./audit-filters"
import { AuditResult } from "./audit-result"
import { ExportMenu } from "./export-menu"

const column = columnsFor<AuditEntry>()

/** The record of changes; those who may not read all of it see what they did themselves, and are told so. */
export function AuditPage() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { actor, action, resource, address, result, from, to, q } = state
  const filter = { actor, action, resource, address, result, from, to, q }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const asked = useAskedFilter(filter)
  const audit = useAudit(asked)
  const isLimited = audit.data?.pages[0]?.limited
  const rows = audit.data?.pages.flatMap(({ items }) => items)
  const index = rows?.findIndex(({ id }) => String(id) === state.open) ?? -1
  const open = (entry: AuditEntry | undefined) => change({ open: entry && String(entry.id) })
  const words = useAuditWords()
  const columns = useMemo(
    () => [
      column("at", t("auditEntry.at"), { align: "end", width: 150 }, ({ at }) => <Time at={at} withMs />),
      // Early, and at any width: on a phone what stands further right is out of view.
      column("result", t("auditEntry.result"), {}, ({ result }) => <AuditResult result={result} />),
      column("actor", t("auditEntry.actor"), { isStrong: true }, ({ actor }) => <span className={classes.actor} title={actor}>{actor}</span>),
      column("token", t("auditEntry.token"), { isSecondary: true, minWidth: 820 }, ({ token }) => token ?? <NotApplicable />),
      column("address", t("auditEntry.address"), { isSecondary: true, minWidth: 980 }, ({ address }) => address || <NotApplicable />),
      column("action", t("auditEntry.action"), {}, ({ action }) => <span title={action}>{words.action(action)}</span>),
      column("resource", t("auditEntry.resource"), { isName: true, minWidth: 480 }, ({ resource }) => resource),
      column("request", t("auditEntry.request"), { minWidth: 900 }, ({ request_id }) => <Ident id={request_id} />),
    ],
    [t, words],
  )
  const entry = rows?.[index]
  return (
    <DockedPage
      drawer={
        entry && (
          <AuditDrawer
            entry={entry}
            onClose={() => change({ open: undefined })}
            onPrevious={rows[index - 1] && (() => open(rows[index - 1]))}
            onNext={rows[index + 1] && (() => open(rows[index + 1]))}
          />
        )
      }
    >
      <Page fill title={t("nav.audit")} facts={t(isLimited ? "audit.ownFacts" : "audit.facts")} actions={asked && <PageActions filter={asked} />}>
        <AuditFilters filter={filter} onChange={change} />
        <QueryPanel
          grow
          query={{ ...audit, data: rows, refetch: audit.refetch as never }}
          what={t("audit.failed")}
          skeleton={asked ? undefined : <Empty title={t("messages.faults.moment")} />}
          isEmpty={(items) => items.length === 0}
          empty={isFiltered ? <Empty title={t("auditSearch.none")} next={t("auditSearch.noneNext")} /> : <Empty title={t("audit.none")} next={t("audit.noneNext")} />}
        >
          {(items) => (
            <DataTable
              label={t("nav.audit")}
              columns={columns}
              rows={items}
              rowId={({ id }) => String(id)}
              selectedId={state.open}
              onRow={open}
              onEnd={audit.hasNextPage && !audit.isFetchingNextPage ? () => void audit.fetchNextPage() : undefined}
            />
          )}
        </QueryPanel>
      </Page>
    </DockedPage>
  )
}

function PageActions({ filter }: { filter: AuditFilter }) {
  return (
    <>
      <ExportMenu filter={filter} />
      <CurlButton request={{ path: paths.audit, query: { ...filter } }} />
    </>
  )
}
