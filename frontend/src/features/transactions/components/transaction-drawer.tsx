import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Callout, Definitions } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { Ident } from "@/components/values/ident"
import { Unknown } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { useLanguage } from "@/hooks/use-format"
import type { TransactionDetail } from "@/lib/api-types"
import { bytes } from "@/lib/format"
import { asProblem, isGone } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { useTransaction } from "../api/get-transaction"
import { Decide } from "./decide"
import { Connected, NextCheck, StateBadge } from "./words"
import classes from "./transactions.module.css"

interface TransactionDrawerProps {
  cluster: string
  id: string
  onClose: () => void
}

/** One transaction: its message, its checks, and what an operator can do about it. */
export function TransactionDrawer({ cluster, id, onClose }: TransactionDrawerProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const query = useTransaction(cluster, id)
  return (
    <DockedDrawer label={t("transactions.transaction")} onClose={onClose}>
      {isGone(query.error) ? (
        <Empty small title={t("transactions.gone")} next={problemIn(t, language, asProblem(query.error))} />
      ) : (
        <QueryBody query={query} what={t("transactions.oneFailed")}>
          {(found) => (
            <>
              <Facts found={found} />
              <Decide cluster={cluster} id={id} found={found} />
              <Body found={found} />
            </>
          )}
        </QueryBody>
      )}
    </DockedDrawer>
  )
}

function Facts({ found }: { found: TransactionDetail }) {
  const { t } = useTranslation()
  const isOpen = found.state === "open"
  return (
    <section className={classes.section}>
      <h2>{found.topic}</h2>
      <Definitions
        items={[
          [t("transactions.state"), <StateBadge key="state" state={found.state} />],
          [t("transactions.group"), found.group],
          [t("transactions.producer"), isOpen ? <Connected key="producer" is={found.producer_connected} /> : "—"],
          [t("transactions.prepared"), found.prepared_at === null ? <Unknown key="prepared" /> : <Time key="prepared" at={found.prepared_at} withMs />],
          [t("transactions.checks"), found.checks === null ? <Unknown key="checks" /> : String(found.checks)],
          [t("transactions.checked"), found.checked_at ? <Time key="checked" at={found.checked_at} /> : "—"],
          [t("transactions.next"), isOpen ? <NextCheck key="next" row={found} /> : "—"],
          [t("transactions.id"), <Ident key="id" id={found.message_id} whole />],
          [t("transactions.key"), found.keys.join(" ") || "—"],
          [t("transactions.tag"), found.tag ?? "—"],
          [t("transactions.sender"), found.born_host],
          [t("transactions.broker"), found.broker],
        ]}
      />
    </section>
  )
}

function Body({ found: { body, hidden, body_bytes: size } }: { found: TransactionDetail }) {
  const { t } = useTranslation()
  return (
    <section className={classes.section}>
      <h2>{t("transactions.body", { size: bytes(size) })}</h2>
      {body === null ? <Callout>{hidden ?? t("states.unknown")}</Callout> : <CodeBlock wrap language={body.encoding === "json" ? "json" : "plain"} text={body.text ?? String(body.data)} label={t("transactions.bodyLabel")} />}
    </section>
  )
}
