import { Button } from "@mantine/core"
import { IconAlertTriangle, IconKey } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { Badge, Tag, UnknownBadge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NotApplicable } from "@/components/values/num"
import { useUrlState } from "@/hooks/use-url-state"
import type { BrokerAccount } from "@/lib/api-types"
import { otherRights } from "../draft"
import classes from "./accounts.module.css"
import { DeleteAccount } from "./delete-account"

const column = columnsFor<BrokerAccount>()

interface AccountsTableProps {
  cluster: string
  accounts: BrokerAccount[]
}

/** The accounts, what each may do, and where brokers differ. */
export function AccountsTable({ cluster, accounts }: AccountsTableProps) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const [deleted, setDeleted] = useState<string>()
  const columns = useMemo(
    () => [
      column("key", t("brokerAccounts.key"), { isName: true }, (account) => <Name account={account} />),
      column("topics", t("brokerAccounts.of.topic"), { minWidth: 420 }, (account) => <Rights account={account} rights={account.topic_permissions} others={account.default_topic_permission} />),
      column("groups", t("brokerAccounts.of.group"), { minWidth: 560 }, (account) => <Rights account={account} rights={account.group_permissions} others={account.default_group_permission} />),
      column("white", t("brokerAccounts.whiteShort"), { isSecondary: true, minWidth: 900 }, ({ white_address: address }) => (address === "" ? <NotApplicable /> : <span className="mono">{address}</span>)),
      column("state", t("brokerAccounts.state"), { minWidth: 760 }, (account) => <Alike account={account} />),
      column("act", "", { align: "end" }, ({ access_key: key, is_own: isOwn, missing_on: missing }) => (
        <>
          <Button size="xs" variant="subtle" aria-label={t("brokerAccounts.changeNamed", { key })} onClick={() => change({ account: key, new: undefined, change: undefined })}>
            {t("brokerAccounts.change")}
          </Button>
          {!isOwn && (
            <Button size="xs" variant="subtle" aria-label={t(missing.length > 0 ? "brokerAccounts.deleteEverywhereNamed" : "brokerAccounts.deleteNamed", { key })} onClick={() => setDeleted(key)}>
              {t(missing.length > 0 ? "brokerAccounts.deleteEverywhere" : "brokerAccounts.delete")}
            </Button>
          )}
        </>
      )),
    ],
    [t, change],
  )
  return (
    <>
      <DataTable natural label={t("brokerAccounts.title")} columns={columns} rows={accounts} rowId={({ access_key: key }) => key} rowHeight={44} />
      {deleted !== undefined && <DeleteAccount cluster={cluster} accessKey={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  )
}

function Name({ account: { access_key: key, is_own: isOwn, admin } }: { account: BrokerAccount }) {
  const { t } = useTranslation()
  return (
    <span className={classes.rights}>
      <span className="mono">{key}</span>
      {admin && <Tag>{t("brokerAccounts.admin")}</Tag>}
      {isOwn && (
        <Badge tone="accent" icon={IconKey}>
          {t("brokerAccounts.own")}
        </Badge>
      )}
    </span>
  )
}

interface RightsProps {
  account: BrokerAccount
  rights: Readonly<Record<string, string>>
  others: string
}

function Rights({ account, rights, others }: RightsProps) {
  const { t } = useTranslation()
  const isUnlimited = account.admin && Object.keys({ ...account.topic_permissions, ...account.group_permissions }).length === 0
  if (isUnlimited) return <span>{t("brokerAccounts.everything")}</span>
  return (
    <span className={classes.rights}>
      {Object.entries(rights).map(([name, right]) => (
        <Tag key={name}>{`${name}=${right}`}</Tag>
      ))}
      <span className="micro">{t("brokerAccounts.others", { right: others })}</span>
    </span>
  )
}

function Alike({ account }: { account: BrokerAccount }) {
  const { missing_on: missing, differs_on: differing, unknown_on: unknown } = account
  const { t } = useTranslation()
  const lists = [
    ["missingOn", missing],
    ["differsOn", otherRights(account)],
    ["secretDiffersOn", account.secret_differs_on],
    ["unknownOn", unknown],
  ] as const
  const words = lists.filter(([, brokers]) => brokers.length > 0).map(([key, brokers]) => t(`brokerAccounts.${key}`, { brokers: brokers.join(t("list.comma")) })).join(t("list.semicolon"))
  if (words === "") return <span className="micro">{t("brokerAccounts.alike")}</span>
  if (missing.length + differing.length === 0) return <UnknownBadge>{words}</UnknownBadge>
  return (
    <Badge tone="warn" icon={IconAlertTriangle}>
      {words}
    </Badge>
  )
}
