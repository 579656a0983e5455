import { Button, TextInput } from "@mantine/core"
import { IconAlertCircle } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { PasswordField } from "@/components/forms/password-field"
import { useLanguage } from "@/hooks/use-format"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { useLogin } from "../api/login"
import classes from "./login.module.css"

export function LoginForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation()
  const login = useLogin()
  const [username, setUsername] = useState("")
  const [password, setPassword] = useState("")
  const [isTried, setTried] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (username.trim() === "" || password === "") return
        login.mutate({ username, password }, { onSuccess: onDone })
      }}
    >
      <TextInput
        size="lg"
        label={t("login.username")}
        value={username}
        error={isTried && username.trim() === "" ? t("login.needed") : null}
        onChange={(event) => setUsername(event.currentTarget.value)}
        autoComplete="username"
        autoCapitalize="none"
        name="username"
        autoFocus
      />
      <PasswordField
        size="lg"
        label={t("login.password")}
        value={password}
        error={isTried && password === "" ? t("login.needed") : null}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="current-password"
        name="password"
      />
      {login.error && <Refused error={login.error} />}
      <Button type="submit" size="lg" variant="filled" fullWidth mt={6} loading={login.isPending}>
        {t("login.signIn")}
      </Button>
    </form>
  )
}

function Refused({ error }: { error: Error }) {
  const { t } = useTranslation()
  const language = useLanguage()
  const problem = asProblem(error)
  const isWrong = problem.status === 400 || problem.status === 401 || problem.status === 403
  return (
    <p className={classes.error} role="alert">
      <IconAlertCircle size={16} stroke={1.6} aria-hidden />
      <span>
        {isWrong ? t("login.wrong") : problemIn(t, language, problem)}
        {!isWrong && problem.requestId && ` ${t("states.requestId", { id: problem.requestId })}`}
      </span>
    </p>
  )
}
