import { ActionIcon, Tooltip } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { IconCheck, IconCopy } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"

interface CopyButtonProps {
  text: string
  size?: number
  label?: string
}

/** Copies; turns into a tick for two seconds. */
export function CopyButton({ text, size = 26, label }: CopyButtonProps) {
  const { t } = useTranslation()
  const clipboard = useClipboard({ timeout: 2_000 })
  const Icon = clipboard.copied ? IconCheck : IconCopy
  return (
    <Tooltip label={clipboard.copied ? t("actions.copied") : (label ?? t("actions.copy"))}>
      <ActionIcon
        size={size}
        aria-label={label ?? t("actions.copy")}
        onClick={(event) => {
          event.stopPropagation()
          clipboard.copy(text)
        }}
      >
        <Icon size={size > 20 ? 15 : 13} stroke={1.6} color={clipboard.copied ? "var(--ok)" : undefined} />
      </ActionIcon>
    </Tooltip>
  )
}
