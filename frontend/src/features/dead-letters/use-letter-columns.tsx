import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import { useSeveralBrokers } from "@/hooks/use-several-brokers"
import type { DeadLetter } from "@/lib/api-types"
import classes from "./components/dead-letters.module.css"

const column = columnsFor<DeadLetter>()

/** What a table says of each dead letter. */
export function useLetterColumns() {
  const { t } = useTranslation()
  const withBroker = useSeveralBrokers()
  return useMemo(
    () => [
      column("died", t("deadLetters.died"), { minWidth: 420 }, ({ stored_at: at }) => <Time at={at} />),
      column("id", t("deadLetters.id"), { isName: true }, ({ message_id: id }) => <Ident id={id} />),
      ...(withBroker ? [column("broker", t("topics.broker"), { isSecondary: true, minWidth: 520 }, ({ broker }) => broker)] : []),
      column("key", t("deadLetters.key"), { isSecondary: true, minWidth: 560 }, ({ keys }) => keys.join(" ")),
      column("origin", t("deadLetters.origin"), { isSecondary: true, minWidth: 640 }, ({ origin_topic: topic }) => topic ?? "—"),
      column("cause", t("deadLetters.cause"), {}, ({ cause }) => <span className={classes.why}>{cause ?? <span className={classes.none}>{t("deadLetters.noReason")}</span>}</span>),
    ],
    [t, withBroker],
  )
}
