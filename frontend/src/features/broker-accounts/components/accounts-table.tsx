import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NotApplicable } from "@/components/values/num"
import { usePhone } from "@/hooks/use-media"
import type { BrokerAccount } from "@/lib/api-types"
import { AccountActions, Alike, Name, Rights } from "./account-cells"
import { AccountRows } from "./account-rows"
import { DeleteAccount } from "./delete-account"

const column = columnsFor<BrokerAccount>()

interface AccountsTableProps {
  cluster: string
  accounts: BrokerAccount[]
}

/** The accounts, what each may do, and where brokers differ. */
export function AccountsTable({ cluster, accounts }: AccountsTableProps) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const [deleted, setDeleted] = useState<string>()
  const columns = useMemo(
    () => [
      column("key", t("brokerAccounts.key"), { isName: true }, (account) => <Name account={account} />),
      column("topics", t("brokerAccounts.of.topic"), { minWidth: 560 }, (account) => <Rights account={account} kind="topic" />),
      column("groups", t("brokerAccounts.of.group"), { minWidth: 760 }, (account) => <Rights account={account} kind="group" />),
      column("white", t("brokerAccounts.whiteShort"), { isSecondary: true, minWidth: 900 }, ({ white_address: address }) => (address === "" ? <NotApplicable /> : <span className="mono">{address}</span>)),
      column("state", t("brokerAccounts.state"), {}, (account) => <Alike account={account} />),
      column("act", "", { align: "end" }, (account) => <AccountActions account={account} onDelete={setDeleted} />),
    ],
    [t],
  )
  return (
    <>
      {isPhone ? (
        <AccountRows accounts={accounts} onDelete={setDeleted} />
      ) : (
        <DataTable natural label={t("brokerAccounts.title")} columns={columns} rows={accounts} rowId={({ access_key: key }) => key} rowHeight={44} />
      )}
      {deleted !== undefined && <DeleteAccount cluster={cluster} accessKey={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  )
}
