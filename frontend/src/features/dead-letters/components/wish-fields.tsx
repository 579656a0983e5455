import { SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { NamePicker } from "@/components/forms/name-picker"
import { NumberField } from "@/components/forms/number-field"
import { useUrlState } from "@/hooks/use-url-state"
import { type Destination, DESTINATIONS, MOST_RATE, USUAL_RATE, wishOf } from "../wish"
import classes from "./dead-letters.module.css"

interface WishFieldsProps {
  topics: readonly string[]
  /** Where the copies go while nobody chose. */
  usual: Destination
  /** Whether copies may go where others read their bodies. */
  mayHandOn: boolean
}

/** Where the copies go and how fast; part of the address. */
export function WishFields({ topics, usual, mayHandOn }: WishFieldsProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { to, topic, rate } = wishOf(state, usual)
  return (
    <div className={classes.fields}>
      <Field label={t("deadLetters.sendTo")}>
        <SegmentedControl
          size="sm"
          aria-label={t("deadLetters.sendTo")}
          value={to}
          onChange={(next) => change({ to: next, allow: undefined })}
          data={DESTINATIONS.map((value) => ({ value, label: t(`deadLetters.destinations.${value}`), disabled: !mayHandOn && value !== "failed_group" }))}
        />
      </Field>
      {!mayHandOn && <p className="micro">{t("deadLetters.needsBodies", { right: t("rights.bodies") })}</p>}
      {state.to === undefined && usual === "origin" && <p className="micro">{t("deadLetters.whyOrigin")}</p>}
      {to === "other" && <NamePicker label={t("deadLetters.topic")} names={topics} value={topic} onChange={(next) => change({ topic: next, allow: undefined })} />}
      <NumberField
        label={t("deadLetters.atMost")}
        min={1}
        max={MOST_RATE}
        width={130}
        value={rate}
        onChange={(next) => change({ rate: next === USUAL_RATE ? undefined : String(next) })}
      />
    </div>
  )
}
