import { Button } from "@mantine/core"
import { IconArrowsDiff } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { Trans, useTranslation } from "react-i18next"
import { chosenMessage, useChosen } from "../comparison"
import classes from "./compare.module.css"

/** On every page: which message was chosen for a comparison, what comes next, and the way to take it back. */
export function ComparisonBar({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const chosen = useChosen(cluster)
  if (!chosen) return null
  const { id, topic } = chosen
  return (
    <div className={classes.bar} role="status">
      <IconArrowsDiff size={15} stroke={1.6} aria-hidden />
      <p>
        <Trans
          i18nKey="compare.waiting"
          values={{ id, topic }}
          components={{ message: <Link className="mono" to="/messages/$id" params={{ id }} search={{ topic }} /> }}
        />
      </p>
      <Button size="xs" onClick={() => chosenMessage.set(null)}>
        {t("compare.takeBack")}
      </Button>
    </div>
  )
}
