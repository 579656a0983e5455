import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { Wanted } from "../api/get-transactions"
import { HookForm } from "./hook-form"
import { HooksPanel } from "./hooks-panel"
import { TransactionDrawer } from "./transaction-drawer"
import { TransactionsList } from "./transactions-list"

const TABS = ["open", "given_up", "hooks"] as const

/** Half messages that wait for their producers, those that brokers stopped asking about, and hooks that answer for producers. */
export function TransactionsPage({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const tabs = TABS.map((id) => ({ id, label: t(`transactions.tabs.${id}`) }))
  const tab = currentTab(tabs, state.tab) as (typeof TABS)[number]
  const isHooks = tab === "hooks"
  const wanted: Wanted = { state: isHooks ? "open" : tab, topic: state.topic, group: state.group, key: state.key }
  const { open, edit } = state
  const isForm = isHooks && (state.new === "hook" || edit !== undefined)
  const form = isForm && <HookForm key={edit ?? "new"} cluster={cluster} edited={edit} />
  return (
    <DockedPage drawer={form || (open && <TransactionDrawer key={open} cluster={cluster} id={open} onClose={() => change({ open: undefined })} />)}>
      <Page
        title={t("nav.transactions")}
        actions={
          <>
            <CurlButton request={isHooks ? { path: paths.transactionHooks(cluster) } : { path: paths.transactions(cluster), query: { ...wanted } }} />
            <RefreshButton label={t("actions.refresh")} />
          </>
        }
      >
        <TabBar tabs={tabs} />
        {isHooks ? (
          <HooksPanel cluster={cluster} />
        ) : (
          <TransactionsList
            key={wanted.state}
            cluster={cluster}
            wanted={wanted}
            selected={open}
            onFind={change}
            onOpen={({ transaction_id: id }) => change({ open: id ?? undefined })}
          />
        )}
      </Page>
    </DockedPage>
  )
}
