import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { PhoneRows } from "@/components/data-table/phone-rows"
import type { BrokerAccount } from "@/lib/api-types"
import { AccountActions, Alike, Name, Rights } from "./account-cells"
import classes from "./accounts.module.css"

interface AccountRowsProps {
  accounts: readonly BrokerAccount[]
  onDelete: (key: string) => void
}

/** For a phone: the whole name and what can be done, then what it may do, and whether the brokers agree. */
export function AccountRows({ accounts, onDelete }: AccountRowsProps) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("brokerAccounts.title")} rows={accounts.map((account) => ({ name: account.access_key, account }))}>
      {({ account }) => (
        <>
          <Name account={account} />
          <AccountActions account={account} onDelete={onDelete} />
          <dl className={classes.facts}>
            <Fact name={t("brokerAccounts.of.topic")}>
              <Rights account={account} kind="topic" />
            </Fact>
            <Fact name={t("brokerAccounts.of.group")}>
              <Rights account={account} kind="group" />
            </Fact>
            {account.white_address !== "" && (
              <Fact name={t("brokerAccounts.whiteShort")}>
                <span className="mono">{account.white_address}</span>
              </Fact>
            )}
            <Fact name={t("brokerAccounts.state")}>
              <Alike account={account} />
            </Fact>
          </dl>
        </>
      )}
    </PhoneRows>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
