import { Button } from "@mantine/core"
import { IconCircleX, IconRefresh } from "@tabler/icons-react"
import { useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { CopyButton } from "@/components/code/copy-button"
import { ABILITIES } from "@/hooks/use-ability"
import { useFormat, useLanguage } from "@/hooks/use-format"
import { asProblem, type Problem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { Lacking } from "./lacking"
import classes from "./states.module.css"

interface FailedProps {
  /** What could not be done. */
  what: string
  error: unknown
  retry?: (() => void) | undefined
}

const RETRY_MS = 10_000

/** What failed, what is safe, the request id, and another try. */
export function Failed({ what, error, retry }: FailedProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const problem = asProblem(error)
  const lacking = ABILITIES.find((name) => name === problem.capability)
  if (lacking) return <Lacking ability={lacking} />
  return (
    <div className={classes.failed} role="alert">
      <IconCircleX size={18} stroke={1.6} aria-hidden />
      <div>
        <p className={classes.what}>{what}</p>
        <p>
          {problemIn(t, language, problem)} {problem.status === 0 || problem.status >= 500 ? t("states.dataIsSafe") : ""}
        </p>
        <Report problem={problem} />
        {retry && <Again problem={problem} retry={retry} />}
      </div>
    </div>
  )
}

function Report({ problem }: { problem: Problem }) {
  const { t } = useTranslation()
  const status = `${problem.status === 0 ? "" : `${problem.status} `}${problem.code}`
  return (
    <div className={classes.report}>
      <dl>
        <dt>{t("states.status")}</dt>
        <dd>{status}</dd>
        {problem.requestId && (
          <>
            <dt>{t("states.request")}</dt>
            <dd>{problem.requestId}</dd>
          </>
        )}
      </dl>
      <div className={classes.copy}>
        <CopyButton text={`${status}\n${problem.message}\n${problem.requestId ?? ""}`} size={22} />
      </div>
    </div>
  )
}

function Again({ problem, retry }: { problem: Problem; retry: () => void }) {
  const { t } = useTranslation()
  const left = useCountdown(problem, retry)
  const format = useFormat()
  return (
    <div className={classes.again}>
      <Button leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={retry}>
        {t("actions.tryAgain")}
      </Button>
      {left !== null && <span className="micro">{t("states.triesAgainIn", { time: format.duration(left) })}</span>}
    </div>
  )
}

/** Milliseconds until the next try by itself; null where trying again cannot help. */
function useCountdown(problem: Problem, retry: () => void): number | null {
  const [until, setUntil] = useState(() => Date.now() + RETRY_MS)
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!problem.retryable) return
    const timer = window.setInterval(() => {
      setNow(Date.now())
      if (Date.now() < until) return
      setUntil(Date.now() + RETRY_MS)
      retry()
    }, 1_000)
    return () => window.clearInterval(timer)
  }, [problem.retryable, retry, until])
  return problem.retryable ? Math.max(1_000, until - now) : null
}
