import { useTranslation } from "react-i18next"
import type { WholeMessage } from "@/lib/api-types"
import classes from "./messages.module.css"
import { SectionHead } from "./section-head"

export function MessageProperties({ message }: { message: WholeMessage }) {
  const { t } = useTranslation()
  const entries = Object.entries(message.properties)
  return (
    <>
      <SectionHead name={t("messages.sections.properties")} fact={String(entries.length)} />
      {entries.length === 0 && <p className="micro">{t("messages.noProperties")}</p>}
      {entries.length > 0 && (
        <table className={classes.properties}>
          <tbody>
            {entries.map(([name, value]) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
