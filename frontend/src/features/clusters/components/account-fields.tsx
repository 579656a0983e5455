import { TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { PasswordField } from "@/components/forms/password-field"
import type { Cluster } from "@/lib/api-types"

export interface AccountDraft {
  accessKey: string
  /** Empty keeps the one that is stored, which nobody is shown. */
  secretKey: string
}

export interface AccountChange {
  access_key?: string
  secret_key?: string
}

const SHORTEST = 7
const keptOf = (cluster: Cluster | undefined) => cluster?.access_key ?? ""

/** What is sent of the account: nothing if it stays as it is. */
export function changeOf({ accessKey, secretKey }: AccountDraft, cluster: Cluster | undefined): AccountChange {
  const name = accessKey.trim()
  if (name === "") return keptOf(cluster) === "" ? {} : { access_key: "" }
  if (name === keptOf(cluster) && secretKey === "") return {}
  return { access_key: name, ...(secretKey === "" ? {} : { secret_key: secretKey }) }
}

/** With which account a connection is tried: that of the cluster if its secret is not replaced. */
export function triedAs({ accessKey, secretKey }: AccountDraft, cluster: Cluster | undefined): AccountChange & { cluster?: string } {
  const name = accessKey.trim()
  return cluster && name !== "" && name === keptOf(cluster) && secretKey === "" ? { access_key: name, cluster: cluster.name } : {}
}

/** Whether the account has a secret, or there is none. */
export function isWhole({ accessKey, secretKey }: AccountDraft, cluster: Cluster | undefined): boolean {
  const name = accessKey.trim()
  if (name === "") return secretKey === ""
  return name.length >= SHORTEST && (secretKey.length >= SHORTEST || (secretKey === "" && name === keptOf(cluster)))
}

/** What is secret is not shown in a command. */
export const withoutSecret = <T extends AccountChange>(change: T): T => (change.secret_key === undefined ? change : { ...change, secret_key: "…" })

interface AccountFieldsProps {
  draft: AccountDraft
  cluster: Cluster | undefined
  onChange: (change: Partial<AccountDraft>) => void
}

/** The account with which Gantry signs, for clusters with access control. */
export function AccountFields({ draft, cluster, onChange }: AccountFieldsProps) {
  const { t } = useTranslation()
  const isKept = draft.accessKey.trim() !== "" && draft.accessKey.trim() === keptOf(cluster)
  const isShort = (text: string) => text !== "" && text.length < SHORTEST
  return (
    <>
      <TextInput
        label={t("clusters.accessKey")}
        description={t("clusters.accessKeyWords")}
        value={draft.accessKey}
        autoComplete="off"
        error={isShort(draft.accessKey.trim()) ? t("clusters.keyShort") : null}
        onChange={(event) => onChange({ accessKey: event.currentTarget.value })}
      />
      <PasswordField
        label={t("clusters.secretKey")}
        description={isKept ? t("clusters.secretKeyKept") : t("clusters.secretKeyWords")}
        value={draft.secretKey}
        autoComplete="new-password"
        error={isShort(draft.secretKey) ? t("clusters.keyShort") : null}
        onChange={(event) => onChange({ secretKey: event.currentTarget.value })}
      />
    </>
  )
}
