import { Button } from "@mantine/core"
import { useTranslation } from "react-i18next"
import classes from "./more-rows.module.css"

interface MoreRowsProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** Reads the next page of a table of natural height; nothing behind the last one. */
export function MoreRows({ query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: MoreRowsProps) {
  const { t } = useTranslation()
  if (!hasNextPage) return null
  return (
    <div className={classes.more}>
      <Button size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {t("table.more")}
      </Button>
    </div>
  )
}
