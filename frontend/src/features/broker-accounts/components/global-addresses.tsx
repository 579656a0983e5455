import { Stack, Textarea, Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Tag, UnknownBadge } from "@/components/badges/badge"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Callout, Panel } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { GlobalAddresses as Addresses, GlobalAddressesChanged } from "@/lib/api-types"
import { useSetAddresses } from "../api/set-addresses"
import { Partly } from "./account-answer"
import classes from "./accounts.module.css"

interface GlobalAddressesProps {
  addresses: Addresses
  onChange: () => void
}

/** From where everybody is served without an account. */
export function GlobalAddresses({ addresses, onChange }: GlobalAddressesProps) {
  const { t } = useTranslation()
  const { global_white_addresses: known, differs_on: others, unknown_on: unknown } = addresses
  return (
    <Panel
      title={t("brokerAccounts.global")}
      note={t("brokerAccounts.globalNote")}
      actions={
        <Button size="xs" onClick={onChange}>
          {t("brokerAccounts.globalChange")}
        </Button>
      }
    >
      <div className={classes.addresses}>
        {known.length === 0 ? <span>{t(unknown.length === 0 ? "brokerAccounts.globalNone" : "brokerAccounts.globalNoneKnown")}</span> : known.map((address) => <Tag key={address}>{address}</Tag>)}
        {unknown.length > 0 && <UnknownBadge>{t("brokerAccounts.unknownOn", { brokers: unknown.join(t("list.comma")) })}</UnknownBadge>}
        {others.length > 0 && <Callout>{t("brokerAccounts.globalDiffers", { brokers: others.join(t("list.comma")) })}</Callout>}
      </div>
    </Panel>
  )
}

interface ChangeAddressesProps {
  cluster: string
  addresses: Addresses
  onClose: () => void
}

export function ChangeAddresses({ cluster, addresses: first, onClose }: ChangeAddressesProps) {
  const { t } = useTranslation()
  const [{ etag, global_white_addresses: known }] = useState(first)
  const [text, setText] = useState(known.join("\n"))
  const set = useSetAddresses(cluster)
  const wanted = text.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  const send = (tag: string) =>
    set.mutate(
      { global_white_addresses: wanted, etag: tag },
      {
        onSuccess: (now) => {
          setAnswer(now)
          if (now.brokers.some(({ done }) => !done)) return
          toastDone(t("brokerAccounts.globalChanged"))
          onClose()
        },
        onError: (error) => toastFailed(t("brokerAccounts.globalNotChanged"), error),
      },
    )
  // What was answered last, also while it is sent again.
  const [answer, setAnswer] = useState<GlobalAddressesChanged>()
  return (
    <FormDrawer
      title={t("brokerAccounts.global")}
      action={t("brokerAccounts.globalChange")}
      right="admin"
      isReady
      isBusy={set.isPending}
      onSubmit={() => send(etag)}
      onClose={onClose}
      answer={
        answer && (
          <Stack gap={12}>
            <Partly brokers={answer.brokers} isBusy={set.isPending} onAgain={() => send(answer.etag)} />
            <Button onClick={onClose}>{t("actions.close")}</Button>
          </Stack>
        )
      }
    >
      <Callout>{t("brokerAccounts.globalWarn")}</Callout>
      <Textarea label={t("brokerAccounts.globalField")} description={t("brokerAccounts.globalFieldWords")} autosize minRows={4} value={text} onChange={(event) => setText(event.currentTarget.value)} autoFocus />
    </FormDrawer>
  )
}
