import { Button } from "@mantine/core"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useLanguage } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { isWhole } from "@/lib/api-types"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { type MessageAddress, useMessage } from "../api/get-message"
import { useTrace } from "../api/get-trace"
import { DeliverMessage } from "./deliver-message"
import { MayWait } from "./may-wait"
import { MessageActions } from "./message-actions"
import { MessageTraces } from "./message-traces"
import { MessageView } from "./message-view"
import { ResendMessage } from "./resend-message"
import classes from "./compare.module.css"

/** A message by its link: what it is, who consumed it, and what became of it and its copies. */
export function MessagePage({ cluster, id }: { cluster: string; id: string }) {
  const { t } = useTranslation()
  const [{ topic }] = useUrlState()
  if (topic) return <KnownMessage key={`${topic} ${id}`} cluster={cluster} address={{ id, topic }} />
  return (
    <Page title={id}>
      <Panel>
        <Empty
          title={t("compare.needsTopic")}
          next={t("compare.needsTopicNext")}
          actions={
            <Button renderRoot={(props: object) => <Link to="/messages" search={{ mode: "id", id }} {...props} />}>
              {t("compare.chooseTopic")}
            </Button>
          }
        />
      </Panel>
    </Page>
  )
}

/** What clients traced of a message that is not stored any more; traces may be kept longer. */
function TracesLeft({ cluster, address }: { cluster: string; address: MessageAddress }) {
  const { data } = useTrace(cluster, address)
  return data?.state === "traced" && <div className={classes.traces}><MessageTraces cluster={cluster} address={address} /></div>
}

function KnownMessage({ cluster, address }: { cluster: string; address: MessageAddress }) {
  const { t } = useTranslation()
  const language = useLanguage()
  const query = useMessage(cluster, address)
  const [form, setForm] = useState<"resend" | "deliver" | null>(null)
  const message = query.data
  const close = () => setForm(null)
  return (
    <DockedPage
      drawer={
        message &&
        ((form === "resend" && isWhole(message) && <ResendMessage cluster={cluster} message={message} onClose={close} />) ||
          (form === "deliver" && <DeliverMessage cluster={cluster} message={message} onClose={close} />))
      }
    >
      <Page
        title={t("messages.one")}
        actions={
          <MessageActions
            isPage
            cluster={cluster}
            address={address}
            message={message}
            onDeliver={() => setForm("deliver")}
            onResend={() => setForm("resend")}
          />
        }
      >
        {query.error && asProblem(query.error).status === 404 ? (
          <Panel>
            <Empty title={t("messages.notThere")} next={problemIn(t, language, asProblem(query.error))} actions={<MayWait sought={{ key: address.id, topic: address.topic }} />} />
            <TracesLeft cluster={cluster} address={address} />
          </Panel>
        ) : (
          <QueryPanel query={query} what={t("messages.oneFailed")}>
            {(found) => (
              <div className={classes.page}>
                <MessageView cluster={cluster} message={found} />
              </div>
            )}
          </QueryPanel>
        )}
      </Page>
    </DockedPage>
  )
}
