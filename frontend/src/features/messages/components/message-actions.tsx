import { ActionIcon, Button, Tooltip } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { type Icon, IconArrowsDiff, IconArrowsMaximize, IconCheck, IconDownload, IconLink, IconSend, IconTerminal2, IconUserShare } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { env } from "@/config/env"
import { paths } from "@/config/paths"
import { LOCAL_CLUSTER } from "@/hooks/use-cluster"
import { useWide } from "@/hooks/use-media"
import { withQuery } from "@/lib/api-client"
import { isWhole, type Message } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import type { MessageAddress } from "../api/get-message"
import { chosenMessage, useChosen } from "../comparison"
import classes from "./messages.module.css"

interface MessageActionsProps {
  cluster: string
  address: MessageAddress
  message: Message | undefined
  isPage: boolean
  onDeliver: () => void
  onResend: () => void
}

/** What one does with a message, in its drawer and on its page; the page has room for words. */
export function MessageActions({ cluster, address, message, isPage, onDeliver, onResend }: MessageActionsProps) {
  const { t } = useTranslation()
  const hasWords = useWide() && isPage
  const named = cluster === LOCAL_CLUSTER ? {} : { cluster }
  const link = `${env.origin}${env.base}${withQuery(`/messages/${encodeURIComponent(address.id)}`, { topic: address.topic, ...named })}`
  return (
    <>
      {message && message.hidden === null && <Act icon={IconUserShare} label={t("deliver.open")} hasWords={hasWords} onClick={onDeliver} />}
      {message && isWhole(message) && (
        <>
          <DownloadAction label={t("find.downloadBody")} hasWords={hasWords} href={withQuery(paths.messageBody(cluster, address.id), { topic: address.topic })} />
          <Act icon={IconSend} label={t("resend.open")} hasWords={hasWords} onClick={onResend} />
        </>
      )}
      {message && <ChooseAction cluster={cluster} address={address} hasWords={hasWords} />}
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

interface ActProps {
  icon: Icon
  label: string
  hasWords: boolean
  isPressed?: boolean
  onClick: () => void
}

function Act({ icon: ActIcon, label, hasWords, isPressed, onClick }: ActProps) {
  if (hasWords)
    return (
      <Button size="xs" aria-pressed={isPressed} leftSection={<ActIcon size={15} stroke={1.6} />} onClick={onClick}>
        {label}
      </Button>
    )
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} aria-pressed={isPressed} onClick={onClick}>
        <ActIcon size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

function DownloadAction({ label, hasWords, href }: { label: string; hasWords: boolean; href: string }) {
  if (hasWords)
    return (
      <Button size="xs" component="a" href={href} download leftSection={<IconDownload size={15} stroke={1.6} />}>
        {label}
      </Button>
    )
  return (
    <Tooltip label={label}>
      <ActionIcon component="a" className={classes.plain ?? ""} href={href} download aria-label={label}>
        <IconDownload size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Chooses a message, or takes the choice back; another message offers itself beside the chosen one under its own id. */
function ChooseAction({ cluster, address, hasWords }: { cluster: string; address: MessageAddress; hasWords: boolean }) {
  const { t } = useTranslation()
  const chosen = useChosen(cluster)
  if (chosen && chosen.id !== address.id) return null
  return (
    <Act
      icon={IconArrowsDiff}
      label={t(chosen ? "compare.takeBack" : "compare.first")}
      hasWords={hasWords}
      isPressed={chosen !== null}
      onClick={() => chosenMessage.set(chosen ? null : { cluster, ...address })}
    />
  )
}

function CopyAction({ icon: ActionIconShape, label, text }: { icon: Icon; label: string; text: string }) {
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
