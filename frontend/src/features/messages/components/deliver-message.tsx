import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Definitions } from "@/components/layout/panel"
import { toastFailed, toastUnknown } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import type { Delivered, Message } from "@/lib/api-types"
import { asProblem, refusedFields } from "@/lib/problem"
import { useDeliverMessage } from "../api/deliver-message"

interface DeliverMessageProps {
  cluster: string
  message: Message
  onClose: () => void
}

/** Hands a message to one client of a group and shows what it made of it. */
export function DeliverMessage({ cluster, message, onClose }: DeliverMessageProps) {
  const { t } = useTranslation()
  const [group, setGroup] = useState("")
  const [client, setClient] = useState("")
  const deliver = useDeliverMessage(cluster, message.message_id)
  const input = { topic: message.topic, group: group.trim(), ...(client.trim() && { client_id: client.trim() }) }
  const refused = refusedFields<object>(deliver, input)
  const send = () =>
    deliver.mutate(input, {
      onError: (error) => {
        const { status } = asProblem(error)
        if (status === 504 || status === 0) toastUnknown(t("deliver.unknown"), t("deliver.unknownNext"))
        else toastFailed(t("deliver.failed"), error)
      },
    })
  return (
    <FormDrawer
      title={t("deliver.title")}
      action={t("deliver.action")}
      right="manage"
      isReady={group.trim() !== ""}
      isBusy={deliver.isPending}
      onSubmit={send}
      onClose={onClose}
      request={{ method: "POST", path: paths.messageDeliver(cluster, message.message_id), body: input }}
      answer={deliver.data && <Answer delivered={deliver.data} />}
    >
      <TextInput label={t("deliver.group")} value={group} error={refused.group} onChange={(event) => setGroup(event.currentTarget.value)} />
      <TextInput
        label={t("deliver.client")}
        description={t("deliver.clientWords")}
        value={client}
        error={refused.client_id}
        onChange={(event) => setClient(event.currentTarget.value)}
      />
    </FormDrawer>
  )
}

function Answer({ delivered: { client_id: client, result, remark, spent_ms: ms } }: { delivered: Delivered }) {
  const { t } = useTranslation()
  const format = useFormat()
  const tone = result === "success" || result === "commit" ? "ok" : result === "unknown" ? "grey" : "warn"
  return (
    <Definitions
      items={[
        [t("deliver.result"), <Badge key="result" tone={tone}>{t(`deliver.results.${result}`)}</Badge>],
        [t("deliver.client"), client],
        [t("deliver.took"), format.milliseconds(ms)],
        [t("deliver.remark"), remark ?? "—"],
      ]}
    />
  )
}
