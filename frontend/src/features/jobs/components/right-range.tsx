import { SegmentedControl } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { hasOwnRange } from "../sides"
import type { FieldsProps } from "./request-fields"

interface RightRangeProps extends Omit<FieldsProps, "topics"> {
  /** The fields of a range of its own. */
  children: ReactNode
}

/** Over which range the right side is read: that of the left one, or one of its own, which begins as a copy of it. */
export function RightRange({ state, onChange, children }: RightRangeProps) {
  const { t } = useTranslation()
  const isOwn = hasOwnRange(state)
  return (
    <>
      <Field label={t("sides.rightRange")} description={t("sides.rightRangeWords")}>
        <SegmentedControl
          mt={4}
          aria-label={t("sides.rightRange")}
          value={isOwn ? "own" : "same"}
          onChange={(next) => onChange(next === "own" ? { rrange: "own", rfrom: state.from, rto: state.to } : { rrange: undefined, rfrom: undefined, rto: undefined })}
          data={(["same", "own"] as const).map((value) => ({ value, label: t(`sides.rightRanges.${value}`) }))}
        />
      </Field>
      {isOwn && (
        <div role="group" aria-label={t("sides.rightRange")}>
          {children}
        </div>
      )}
    </>
  )
}
