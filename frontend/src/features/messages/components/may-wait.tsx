import { Button, Group } from "@mantine/core"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import type { UrlState } from "@/hooks/use-url-state"
import { lookupOf, wantedKeysOf } from "../search-state"
import classes from "./messages.module.css"

/** What both lists take: a key or a message id, and a topic. */
interface Sought {
  key?: string | undefined
  topic?: string | undefined
}

/** What a look-up by key or id wants of the lists of messages that wait; null for all others. */
export function soughtOf(state: UrlState): Sought | null {
  const mode = lookupOf(state)
  if (mode !== "key" && mode !== "keys" && mode !== "id") return null
  const keys = mode === "id" ? [state.id] : mode === "key" ? [state.key] : wantedKeysOf(state)
  return { key: keys.length === 1 ? keys[0] : undefined, topic: state.topic }
}

/** A message that waits for its time or its commit is in no index of its topic: where to look for it. */
export function MayWait({ sought }: { sought: Sought }) {
  const { t } = useTranslation()
  const { key, topic } = sought
  return (
    <div className={classes.mayWait}>
      <p>{t("messages.mayWait")}</p>
      <Group gap={8} justify="center">
        <Button size="xs" renderRoot={(props: object) => <Link to="/scheduled" search={{ key, topic }} {...props} />}>
          {t("messages.lookInScheduled")}
        </Button>
        <Button size="xs" renderRoot={(props: object) => <Link to="/transactions" search={{ key, topic }} {...props} />}>
          {t("messages.lookInTransactions")}
        </Button>
      </Group>
    </div>
  )
}
