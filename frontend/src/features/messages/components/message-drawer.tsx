import { ActionIcon, Tooltip } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { IconCheck, IconDownload, IconLink, IconSend, IconTerminal2, IconUserShare } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { env } from "@/config/env"
import { paths } from "@/config/paths"
import { withQuery } from "@/lib/api-client"
import { isWhole, type MessageSummary } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { type MessageAddress, useMessage } from "../api/get-message"
import { DeliverMessage } from "./deliver-message"
import { MessageView } from "./message-view"
import { ResendMessage } from "./resend-message"

interface MessageDrawerProps {
  cluster: string
  address: MessageAddress
  rows: MessageSummary[]
  onShow: (message: MessageSummary | undefined) => void
  onClose: () => void
}

/** One message beside the list; the arrows walk through what was found. */
export function MessageDrawer({ cluster, address, rows, onShow, onClose }: MessageDrawerProps) {
  const { t } = useTranslation()
  const query = useMessage(cluster, address)
  const index = rows.findIndex(({ message_id }) => message_id === address.id)
  const step = (by: number) => {
    const next = index < 0 ? undefined : rows[index + by]
    return next && (() => onShow(next))
  }
  const [isResending, setResending] = useState(false)
  const [isDelivering, setDelivering] = useState(false)
  if (isResending && query.data && isWhole(query.data)) return <ResendMessage cluster={cluster} message={query.data} onClose={() => setResending(false)} />
  if (isDelivering && query.data) return <DeliverMessage cluster={cluster} message={query.data} onClose={() => setDelivering(false)} />
  const link = `${env.origin}${env.base}${withQuery("/messages", { mode: "id", id: address.id, topic: address.topic })}`
  return (
    <DockedDrawer
      label={t("messages.one")}
      position={index < 0 || rows.length < 2 ? undefined : t("drawer.position", { n: index + 1, total: rows.length })}
      onPrevious={step(-1)}
      onNext={step(1)}
      onClose={onClose}
      actions={
        <>
          {query.data && (
            <Tooltip label={t("deliver.open")}>
              <ActionIcon aria-label={t("deliver.open")} onClick={() => setDelivering(true)}>
                <IconUserShare size={16} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
          {query.data && isWhole(query.data) && (
            <Tooltip label={t("find.downloadBody")}>
              <ActionIcon component="a" href={withQuery(paths.messageBody(cluster, address.id), { topic: address.topic })} download aria-label={t("find.downloadBody")}>
                <IconDownload size={16} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
          {query.data && isWhole(query.data) && (
            <Tooltip label={t("resend.open")}>
              <ActionIcon aria-label={t("resend.open")} onClick={() => setResending(true)}>
                <IconSend size={16} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
          <CopyAction icon={IconLink} label={t("messages.copyLink")} text={link} />
          <CopyAction
            icon={IconTerminal2}
            label={t("actions.copyCurl")}
            text={curlOf({ path: paths.message(cluster, address.id), query: { topic: address.topic } })}
          />
        </>
      }
    >
      <QueryBody query={query} what={t("messages.oneFailed")} skeleton={<SkeletonRows rows={6} />}>
        {(message) => <MessageView key={message.message_id} cluster={cluster} message={message} />}
      </QueryBody>
    </DockedDrawer>
  )
}

function CopyAction({ icon: ActionIconShape, label, text }: { icon: typeof IconLink; label: string; text: string }) {
  const { t } = useTranslation()
  const clipboard = useClipboard({ timeout: 2_000 })
  const Icon = clipboard.copied ? IconCheck : ActionIconShape
  return (
    <Tooltip label={clipboard.copied ? t("actions.copied") : label}>
      <ActionIcon aria-label={label} onClick={() => clipboard.copy(text)}>
        <Icon size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}
