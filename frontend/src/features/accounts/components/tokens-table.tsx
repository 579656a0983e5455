import { Button, Group, Text } from "@mantine/core"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Ago, Time } from "@/components/values/time"
import type { Token } from "@/lib/api-types"
import { useDeleteToken } from "../api/delete-token"
import { useTokens } from "../api/get-tokens"
import { useScopeSentence } from "../use-scope-sentence"
import { AccessQuestionBox } from "./access-question-box"
import classes from "./roles.module.css"

const column = columnsFor<Token>()

export function TokensTable({ onCreate }: { onCreate: () => void }) {
  const { t } = useTranslation()
  const tokens = useTokens()
  const sentence = useScopeSentence()
  const [asked, setAsked] = useState<Token>()
  const columns = useMemo(
    () => [
      column("name", t("access.name"), { isName: true }, ({ name }) => name),
      column("prefix", t("access.prefix"), { minWidth: 420 }, ({ prefix }) => <span className="mono">{prefix}…</span>),
      column("scopes", t("access.scopes"), { minWidth: 520 }, ({ scopes }) => (
        <>
          <Group component="span" display="inline-flex" gap={4} py={4}>
            {scopes.map((scope) => (
              <Tag key={scope}>{scope}</Tag>
            ))}
          </Group>
          <Text component="span" className={classes.words} size="xs" c="dimmed">
            {sentence(scopes)}
          </Text>
        </>
      )),
      column("expires", t("access.expires"), { align: "end", isSecondary: true }, (token) =>
        token.expires_at ? <Time at={token.expires_at} /> : t("access.never"),
      ),
      column("used", t("access.lastUsed"), { align: "end", isSecondary: true, minWidth: 640 }, (token) =>
        token.last_used_at ? <LastUse at={token.last_used_at} address={token.last_used_address} /> : t("access.notYet"),
      ),
      column("created", t("access.created"), { align: "end", isSecondary: true, minWidth: 760 }, (token) => <Time at={token.created_at} />),
      column("delete", "", { align: "end" }, (token) => (
        <>
          <Button size="xs" variant="subtle" aria-pressed={token.id === asked?.id} onClick={() => setAsked(token)}>
            {t("access.ask")}
          </Button>
          <DeleteToken token={token} />
        </>
      )),
    ],
    [t, sentence, asked?.id],
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
      {(items) => (
        <>
          <DataTable natural label={t("access.tokens")} columns={columns} rows={items} rowId={({ id }) => String(id)} />
          {asked && items.some(({ id }) => id === asked.id) && <AccessQuestionBox key={asked.id} token={asked} />}
        </>
      )}
    </QueryPanel>
  )
}

function LastUse({ at, address }: { at: string; address: string }) {
  const { t } = useTranslation()
  return (
    <>
      <Ago at={at} />
      {address && (
        <Text component="span" display="block" size="xs" c="dimmed">
          {t("access.usedFrom", { address })}
        </Text>
      )}
    </>
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
      <ConfirmDelete
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("access.revokeTitle", { name })}
        action={t("access.revoke")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync(id)}
        done={t("access.revoked", { name })}
        failed={t("access.notRevoked", { name })}
      >
        <p>{t("access.revokeWords")}</p>
      </ConfirmDelete>
    </>
  )
}
