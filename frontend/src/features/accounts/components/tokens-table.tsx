import { Button, Group } from "@mantine/core"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Ago, Time } from "@/components/values/time"
import type { Token } from "@/lib/api-types"
import { useDeleteToken } from "../api/delete-token"
import { useTokens } from "../api/get-tokens"

const column = columnsFor<Token>()

export function TokensTable({ onCreate }: { onCreate: () => void }) {
  const { t } = useTranslation()
  const tokens = useTokens()
  const columns = useMemo(
    () => [
      column("name", t("access.name"), { isName: true }, ({ name }) => name),
      column("prefix", t("access.prefix"), {}, ({ prefix }) => <span className="mono">{prefix}…</span>),
      column("scopes", t("access.scopes"), { minWidth: 520 }, ({ scopes }) => (
        <Group component="span" display="inline-flex" gap={4} py={4}>
          {scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </Group>
      )),
      column("expires", t("access.expires"), { align: "end", isSecondary: true }, (token) =>
        token.expires_at ? <Time at={token.expires_at} /> : t("access.never"),
      ),
      column("used", t("access.lastUsed"), { align: "end", isSecondary: true, minWidth: 640 }, (token) =>
        token.last_used_at ? <Ago at={token.last_used_at} /> : t("access.notYet"),
      ),
      column("created", t("access.created"), { align: "end", isSecondary: true, minWidth: 760 }, (token) => <Time at={token.created_at} />),
      column("delete", "", { align: "end" }, (token) => <DeleteToken token={token} />),
    ],
    [t],
  )
  return (
    <QueryPanel
      query={tokens}
      title={t("access.tokens")}
      note={t("access.tokensNote")}
      what={t("access.tokensFailed")}
      isEmpty={(items) => items.length === 0}
      empty={
        <Empty
          title={t("access.noToken")}
          next={t("access.noTokenNext")}
          actions={<Button onClick={onCreate}>{t("access.createToken")}</Button>}
        />
      }
    >
      {(items) => <DataTable natural label={t("access.tokens")} columns={columns} rows={items} rowId={({ id }) => String(id)} />}
    </QueryPanel>
  )
}

function DeleteToken({ token: { id, name } }: { token: Token }) {
  const { t } = useTranslation()
  const remove = useDeleteToken()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button size="xs" variant="subtle" onClick={() => setAsking(true)}>
        {t("access.revoke")}
      </Button>
      <ConfirmDanger
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("access.revokeTitle", { name })}
        action={t("access.revoke")}
        isBusy={remove.isPending}
        onConfirm={() =>
          remove.mutate(id, {
            onSuccess: () => toastDone(t("access.revoked", { name })),
            onError: (error) => toastFailed(t("access.notRevoked", { name }), error),
          })
        }
      >
        <p>{t("access.revokeWords")}</p>
      </ConfirmDanger>
    </>
  )
}
