import { useDocumentTitle } from "@mantine/hooks"
import { useTranslation } from "react-i18next"
import { LoginArt } from "./login-art"
import { LoginFoot } from "./login-foot"
import { LoginForm } from "./login-form"
import classes from "./login.module.css"

export function LoginPage({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation()
  useDocumentTitle(`${t("login.title")} · Gantry`)
  return (
    <div className={classes.page}>
      <LoginArt />
      <main className={classes.side}>
        <h1>{t("login.title")}</h1>
        <p className={classes.to}>{t("login.to", { host: window.location.host })}</p>
        <LoginForm onDone={onDone} />
        <LoginFoot />
      </main>
    </div>
  )
}
