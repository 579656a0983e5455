import { Button } from "@mantine/core"
import { IconAlertTriangle, IconKey } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge, Tag, UnknownBadge } from "@/components/badges/badge"
import { useUrlState } from "@/hooks/use-url-state"
import type { BrokerAccount } from "@/lib/api-types"
import { otherRights } from "../draft"
import classes from "./accounts.module.css"

/** The access key, and what is special about it. */
export function Name({ account: { access_key: key, is_own: isOwn, admin } }: { account: BrokerAccount }) {
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

/** What an account may do with the named topics or groups, and with all others. */
export function Rights({ account, kind }: { account: BrokerAccount; kind: "topic" | "group" }) {
  const { t } = useTranslation()
  const rights = account[`${kind}_permissions`]
  const others = account[`default_${kind}_permission`]
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

/** Whether the brokers agree about an account. */
export function Alike({ account }: { account: BrokerAccount }) {
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
  const isUnknown = missing.length + differing.length === 0
  return (
    <span className={classes.wraps}>
      {isUnknown ? (
        <UnknownBadge>{words}</UnknownBadge>
      ) : (
        <Badge tone="warn" icon={IconAlertTriangle}>
          {words}
        </Badge>
      )}
    </span>
  )
}

interface AccountActionsProps {
  account: BrokerAccount
  onDelete: (key: string) => void
}

/** Change, and delete where Gantry does not need it. */
export function AccountActions({ account: { access_key: key, is_own: isOwn, missing_on: missing }, onDelete }: AccountActionsProps) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  return (
    <span className={classes.actions}>
      <Button size="xs" variant="subtle" aria-label={t("brokerAccounts.changeNamed", { key })} onClick={() => change({ account: key, new: undefined, change: undefined })}>
        {t("brokerAccounts.change")}
      </Button>
      {!isOwn && (
        <Button size="xs" variant="subtle" aria-label={t(missing.length > 0 ? "brokerAccounts.deleteEverywhereNamed" : "brokerAccounts.deleteNamed", { key })} onClick={() => onDelete(key)}>
          {t(missing.length > 0 ? "brokerAccounts.deleteEverywhere" : "brokerAccounts.delete")}
        </Button>
      )}
    </span>
  )
}
