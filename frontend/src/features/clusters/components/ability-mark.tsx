import { Tooltip } from "@mantine/core"
import { IconCheck } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Unknown } from "@/components/values/num"
import { type AbilityName, useClusterDetail, useLacking } from "@/hooks/use-ability"
import classes from "./clusters-page.module.css"

/** A tick with its value, a plain word when the cluster cannot, a hatch while it is not known: lacking something is no fault. */
export function AbilityMark({ cluster, name }: { cluster: string; name: AbilityName }) {
  const { t } = useTranslation()
  const lacking = useLacking()
  const detail = useClusterDetail(cluster)
  const ability = detail.data?.capabilities.find((each) => each.name === name)
  if (!ability || ability.state === "unknown") return <Unknown reason={ability?.reason ?? detail.error?.message} width={22} />
  const value = ability.value === "any" ? t("abilities.any") : name === "timer" ? t("abilities.levelCount", { n: ability.value ?? "" }) : (ability.value ?? "")
  const words = lacking(ability)
  return (
    <Tooltip label={words ?? t(`abilities.having.${name}`)}>
      <span tabIndex={0} className={classes.mark}>
        {ability.state === "no" ? (
          value || t("abilities.no")
        ) : (
          <>
            <IconCheck size={14} stroke={1.8} aria-label={t("abilities.yes")} /> {value}
          </>
        )}
      </span>
    </Tooltip>
  )
}
