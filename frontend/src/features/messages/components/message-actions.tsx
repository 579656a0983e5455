import { ActionIcon, Tooltip } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { IconArrowsDiff, IconArrowsMaximize, IconCheck, IconDownload, IconLink, IconSend, IconTerminal2, IconUserShare } from "@tabler/icons-react"
import { Link, useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { env } from "@/config/env"
import { paths } from "@/config/paths"
import { LOCAL_CLUSTER } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import { withQuery } from "@/lib/api-client"
import { isWhole, type Message } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import type { MessageAddress } from "../api/get-message"
import classes from "./messages.module.css"

interface MessageActionsProps {
  cluster: string
  address: MessageAddress
  message: Message | undefined
  isPage: boolean
  onDeliver: () => void
  onResend: () => void
}

/** What one does with a message, in its drawer and on its page. */
export function MessageActions({ cluster, address, message, isPage, onDeliver, onResend }: MessageActionsProps) {
  const { t } = useTranslation()
  const named = cluster === LOCAL_CLUSTER ? {} : { cluster }
  const link = `${env.origin}${env.base}${withQuery(`/messages/${encodeURIComponent(address.id)}`, { topic: address.topic, ...named })}`
  return (
    <>
      {message && (
        <Tooltip label={t("deliver.open")}>
          <ActionIcon aria-label={t("deliver.open")} onClick={onDeliver}>
            <IconUserShare size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
      {message && isWhole(message) && (
        <Tooltip label={t("find.downloadBody")}>
          <ActionIcon component="a" className={classes.plain ?? ""} href={withQuery(paths.messageBody(cluster, address.id), { topic: address.topic })} download aria-label={t("find.downloadBody")}>
            <IconDownload size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
      {message && isWhole(message) && (
        <Tooltip label={t("resend.open")}>
          <ActionIcon aria-label={t("resend.open")} onClick={onResend}>
            <IconSend size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
      <CompareAction address={address} />
      {!isPage && (
        <Tooltip label={t("compare.openPage")}>
          <ActionIcon
              aria-label={t("compare.openPage")}
              className={classes.plain ?? ""}
              renderRoot={(props: object) => <Link to="/messages/$id" params={{ id: address.id }} search={{ topic: address.topic }} {...props} />}
            >
            <IconArrowsMaximize size={16} stroke={1.6} />
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
  )
}

/** The first press remembers a message in the address, the second one sets another beside it. */
function CompareAction({ address }: { address: MessageAddress }) {
  const { t } = useTranslation()
  const [{ with: first, withTopic }, change] = useUrlState()
  const navigate = useNavigate()
  const isSecond = first !== undefined && withTopic !== undefined && first !== address.id
  const label = isSecond ? t("compare.second", { id: first }) : t(first === address.id ? "compare.chosen" : "compare.first")
  return (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        aria-pressed={first === address.id}
        onClick={() =>
          isSecond
            ? void navigate({ to: "/messages/compare", search: { a: first, aTopic: withTopic, b: address.id, bTopic: address.topic } })
            : change(first === address.id ? { with: undefined, withTopic: undefined } : { with: address.id, withTopic: address.topic })
        }
      >
        <IconArrowsDiff size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
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
