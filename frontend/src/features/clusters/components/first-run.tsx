import { Button, Loader } from "@mantine/core"
import { IconCircleCheckFilled } from "@tabler/icons-react"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { CodeBlock } from "@/components/code/code-block"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { toastFailed } from "@/components/toast/toast"
import { useAbility } from "@/hooks/use-ability"
import { type CurlRequest, curlOf } from "@/lib/curl"
import { runRequest } from "../api/run-request"
import { FIRST_TOPIC, firstRequests, firstRunClosed } from "../first-run"
import classes from "./clusters.module.css"
import { ThisMachine } from "./this-machine"

/** The first start prints the token, and writes it to the folder of the data: where that is, only the server knows. */
const TOKEN_COMMAND = 'export GANTRY_TOKEN="…"'

interface FirstRunProps {
  cluster: string
  /** The topic that exists, and how many messages it holds. */
  topic: string | null
  messages: number
}

/** An empty broker: three steps along a rail, each a command to copy. The page notices when a step was taken. */
export function FirstRun({ cluster, topic, messages }: FirstRunProps) {
  const { t } = useTranslation()
  const requests = firstRequests(cluster, topic ?? FIRST_TOPIC)
  const { isLacking } = useAbility(cluster, "lease")
  const done = topic === null ? 0 : messages === 0 ? 1 : 2
  return (
    <Page
      title={t(done < 2 ? "first.title" : "first.titleBegun")}
      actions={
        <Button variant="subtle" onClick={() => firstRunClosed.set(true)}>
          {t("first.toOverview")}
        </Button>
      }
    >
      <div className={classes.first}>
        <div className={classes.steps}>
          <div className={classes.spine} />
          <div className={classes.token}>
            <p>{t("first.token")}</p>
            <CodeBlock language="curl" text={TOKEN_COMMAND} label={t("machine.token")} />
          </div>
          <Step index={0} done={done} name={t("first.create")} words={t("first.createWords")} request={requests.create}>
            <Act done={done > 0} request={requests.create} right="manage" waiting={t("first.waitTopic")} action={t("first.createForMe")} />
          </Step>
          <Step index={1} done={done} name={t("first.send")} words={t("first.sendWords")} request={requests.send}>
            {done > 0 && (
              <Act done={done > 1} request={requests.send} right="produce" waiting={t("first.waitMessage")} action={t("first.sendForMe")} />
            )}
          </Step>
          <Step
            index={2}
            done={done}
            name={t(isLacking ? "first.readIt" : "first.receive")}
            words={t(isLacking ? "first.readWords" : "first.receiveWords")}
            request={isLacking ? requests.read : requests.receive}
          >
            {done > 1 && <Waiting words={t("first.waitGroup")} />}
          </Step>
        </div>
        <ThisMachine cluster={cluster} />
      </div>
    </Page>
  )
}

interface StepProps {
  index: number
  done: number
  name: string
  words: string
  request: CurlRequest
  children: ReactNode
}

function Step({ index, done, name, words, request, children }: StepProps) {
  const { t } = useTranslation()
  const isDone = index < done
  return (
    <section
      className={classes.step}
      data-done={isDone || undefined}
      data-current={index === done || undefined}
      data-waiting={index > done || undefined}
    >
      <h2>
        {name}
        {isDone && (
          <Badge tone="ok" icon={IconCircleCheckFilled}>
            {t("first.done")}
          </Badge>
        )}
      </h2>
      <p>{words}</p>
      <CodeBlock language="curl" text={curlOf(request)} label={name} />
      {children}
    </section>
  )
}

interface ActProps {
  done: boolean
  request: CurlRequest
  right: "manage" | "produce"
  waiting: string
  action: string
}

/** Waits for the step, or takes it. */
function Act({ done, request, right, waiting, action }: ActProps) {
  const cache = useQueryClient()
  const act = useMutation({
    mutationFn: runRequest,
    onSuccess: () => cache.invalidateQueries(),
    onError: (error) => toastFailed(action, error),
  })
  if (done) return null
  return (
    <Waiting words={waiting}>
      <NeedsRight right={right}>
        <Button size="xs" loading={act.isPending} onClick={() => act.mutate(request)}>
          {action}
        </Button>
      </NeedsRight>
    </Waiting>
  )
}

const Waiting = ({ words, children }: { words: string; children?: ReactNode }) => (
  <div className={classes.wait}>
    <Loader size={14} color="var(--accent)" />
    <span>{words}</span>
    {children}
  </div>
)
