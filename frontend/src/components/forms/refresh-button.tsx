import { ActionIcon, Tooltip } from "@mantine/core"
import { IconRefresh } from "@tabler/icons-react"
import { useIsFetching, useQueryClient } from "@tanstack/react-query"
import { useTranslation } from "react-i18next"
import { refreshAll } from "@/hooks/use-frozen-order"

/** Reads the page again; "r" does the same. */
export function RefreshButton({ label }: { label?: string }) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const isFetching = useIsFetching() > 0
  const words = label ?? t("actions.refresh")
  return (
    <Tooltip label={words}>
      <ActionIcon aria-label={words} onClick={() => void refreshAll(cache)} data-busy={isFetching || undefined}>
        <IconRefresh size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}
