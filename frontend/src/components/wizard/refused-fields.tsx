import { Button } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { detailIn } from "@/lib/reasons"
import { useRefusals } from "./refusals"

/** The fields that the server refused, each with why, and the way back to the step that has it. */
export function RefusedFields({ fields }: { fields: Readonly<Record<string, string>> }) {
  const { t, i18n } = useTranslation()
  const { stepOf } = useRefusals()
  return Object.entries(fields).map(([field, why]) => {
    const step = stepOf(field)
    return (
      <p key={field} className="micro">
        <span className="mono">{field}</span> {detailIn(t, i18n.language, why)}{" "}
        {step && (
          <Button size="compact-xs" variant="subtle" onClick={step.go}>
            {t("jobs.toStep", { step: step.label })}
          </Button>
        )}
      </p>
    )
  })
}
