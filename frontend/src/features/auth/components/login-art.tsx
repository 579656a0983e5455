import { useTranslation } from "react-i18next"
import { Logo } from "@/components/brand/logo"
import { LagRail, type RailTone } from "@/components/rail/rail"
import classes from "./login.module.css"

type Queue = [share: number | null, tone?: RailTone]

/** Fourteen queues as they might hang; the eighth does not answer. */
const QUEUES: Queue[] = [
  [0.2], [0.141], [0.741, "growing"], [0.591, "growing"], [0.035, "ours"], [0.07], [0.1], [null], [0.28], [0.045], [0.36],
  [0.025], [0.17], [0.056],
]

export function LoginArt() {
  const { t } = useTranslation()
  return (
    <aside className={classes.art}>
      <div className={classes.brand}>
        <Logo size={25} />
        Gantry
      </div>
      <p className={classes.words}>
        {t("login.words1")}
        <br />
        {t("login.words2")}
      </p>
      <div className={classes.rails}>
        {QUEUES.map(([share, tone], index) => (
          <LagRail key={index} lag={share} scale={1} {...(tone && { tone })} />
        ))}
      </div>
      <p className={classes.small}>{t("login.small")}</p>
    </aside>
  )
}
