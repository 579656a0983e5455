import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { isWhole, type MessageSummary } from "@/lib/api-types"
import { type MessageAddress, useMessage } from "../api/get-message"
import { DeliverMessage } from "./deliver-message"
import { MessageActions } from "./message-actions"
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
  return (
    <DockedDrawer
      label={t("messages.one")}
      position={index < 0 || rows.length < 2 ? undefined : t("drawer.position", { n: index + 1, total: rows.length })}
      onPrevious={step(-1)}
      onNext={step(1)}
      onClose={onClose}
      actions={
        <MessageActions
          cluster={cluster}
          address={address}
          message={query.data}
          onDeliver={() => setDelivering(true)}
          onResend={() => setResending(true)}
          isPage={false}
        />
      }
    >
      <QueryBody query={query} what={t("messages.oneFailed")} skeleton={<SkeletonRows rows={6} />}>
        {(message) => <MessageView key={message.message_id} cluster={cluster} message={message} />}
      </QueryBody>
    </DockedDrawer>
  )
}
