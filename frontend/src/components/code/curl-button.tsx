import { Button } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { IconCheck, IconTerminal2 } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import classes from "./code.module.css"
import { type CurlRequest, curlOf } from "@/lib/curl"

/** Copies the request behind a panel as a command. */
export function CurlButton({ request, label, size = "sm" }: { request: CurlRequest; label?: string; size?: "xs" | "sm" }) {
  const { t } = useTranslation()
  const clipboard = useClipboard({ timeout: 2_000 })
  const Icon = clipboard.copied ? IconCheck : IconTerminal2
  return (
    <Button
      size={size}
      className={classes.curl ?? ""}
      leftSection={<Icon size={15} stroke={1.6} color={clipboard.copied ? "var(--ok)" : undefined} />}
      onClick={() => clipboard.copy(curlOf(request))}
    >
      {clipboard.copied ? t("actions.copied") : (label ?? t("actions.copyCurl"))}
    </Button>
  )
}
