import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { Callout } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { BrokerAccounts } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { useBrokerAccounts } from "../api/get-accounts"
import { useFreshAccounts } from "../api/use-fresh-accounts"
import { AccessBrokers } from "./access-brokers"
import classes from "./accounts.module.css"
import { AccountsTable } from "./accounts-table"
import { ChangeAccount } from "./change-account"
import { CreateAccount } from "./create-account"
import { ChangeAddresses, GlobalAddresses } from "./global-addresses"

interface AccountsPageProps {
  cluster: string
  /** Which brokers answer now, as one text; undefined before that is known. */
  answering: string | undefined
  tabs: ReactNode
}

/** Who may use the brokers: their accounts, and the addresses that need none. */
export function AccountsPage({ cluster, answering, tabs }: AccountsPageProps) {
  const { t } = useTranslation()
  const accounts = useBrokerAccounts(cluster)
  useFreshAccounts(cluster, answering)
  const [, change] = useUrlState()
  const found = accounts.data
  const isListed = found?.global_addresses !== null && found !== undefined
  return (
    <DockedPage drawer={found && <Drawers cluster={cluster} found={found} />}>
      <Page
        title={t("nav.broker")}
        actions={
          <>
            <RefreshButton />
            <CurlButton request={{ path: paths.brokerAccounts(cluster) }} />
            {isListed && (
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "account", account: undefined, change: undefined })}>
                {t("brokerAccounts.create")}
              </Button>
            )}
          </>
        }
      >
        {tabs}
        <QueryPanel
          query={accounts}
          title={t("brokerAccounts.title")}
          note={t("brokerAccounts.note")}
          what={t("brokerAccounts.failed")}
          isEmpty={({ items }) => items.length === 0}
          empty={found && <None found={found} />}
        >
          {({ items, differ }) => (
            <>
              {differ && <Callout>{t("brokerAccounts.differ")}</Callout>}
              <AccountsTable cluster={cluster} accounts={items} />
            </>
          )}
        </QueryPanel>
        {found?.global_addresses && <GlobalAddresses addresses={found.global_addresses} onChange={() => change({ change: "addresses", new: undefined, account: undefined })} />}
        {found && <AccessBrokers brokers={found.brokers} />}
      </Page>
    </DockedPage>
  )
}

function Drawers({ cluster, found }: { cluster: string; found: BrokerAccounts }) {
  const [state, change] = useUrlState()
  const account = found.items.find(({ access_key: key }) => key === state.account)
  if (state.new === "account") return <CreateAccount cluster={cluster} onClose={() => change({ new: undefined })} />
  if (state.change === "addresses" && found.global_addresses) return <ChangeAddresses cluster={cluster} addresses={found.global_addresses} onClose={() => change({ change: undefined })} />
  return account ? <ChangeAccount key={account.access_key} cluster={cluster} account={account} onClose={() => change({ account: undefined })} /> : null
}

/** Why there is no account to see, and what to do about it. */
function None({ found: { brokers, is_embedded: isOwn } }: { found: BrokerAccounts }) {
  const { t } = useTranslation()
  const states = brokers.map(({ state }) => state)
  if (states.includes("on")) return <Empty title={t("brokerAccounts.none")} next={t("brokerAccounts.noneNext")} />
  if (states.includes("unlisted")) return <Empty title={t("brokerAccounts.unlisted")} next={t("brokerAccounts.unlistedNext")} />
  if (!states.includes("off")) return <Empty title={t("brokerAccounts.unknown")} next={reasonIn(t, brokers[0]?.reason ?? t("brokerAccounts.noBroker"))} />
  return (
    <Empty
      title={t("brokerAccounts.off")}
      next={t("brokerAccounts.offWords")}
      actions={
        <div className={classes.off}>
          <p>{t(isOwn ? "brokerAccounts.offOwn" : "brokerAccounts.offOther")}</p>
          <CodeBlock wrap text={isOwn ? "GANTRY_ACL=on make up" : "aclEnable=true"} label={t("brokerAccounts.switchOn")} />
        </div>
      }
    />
  )
}
