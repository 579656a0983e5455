import { Select, TextInput } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { IconBan, IconCheck } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { nameOfRole } from "@/components/values/roles"
import type { AccessAnswer, RoleList, Token } from "@/lib/api-types"
import { useAccessAnswer } from "../api/check-access"
import { useUsers } from "../api/get-users"
import { type Kind, KINDS, type Verb, VERBS } from "../role-draft"
import classes from "./roles.module.css"

interface AccessQuestionBoxProps {
  /** Which rights have a meaning for which kind; without it the API says which have none. */
  kinds?: RoleList["kinds"]
  /** The question is about this token instead of a user. */
  token?: Token
}

/** May this user, or this token, do that, and by which rule? */
export function AccessQuestionBox({ kinds, token }: AccessQuestionBoxProps) {
  const { t } = useTranslation()
  const users = useUsers(token === undefined)
  const [asked, setAsked] = useState<{ user: string | null; verb: Verb; kind: Kind; resource: string }>({ user: null, verb: "read", kind: "topic", resource: "" })
  const [resource] = useDebouncedValue(asked.resource.trim(), 300)
  const who = token ? { token: token.id } : asked.user ? { user: asked.user } : null
  const question = who && resource ? { ...who, verb: asked.verb, kind: asked.kind, resource } : null
  const answer = useAccessAnswer(question)
  const verbsOf = (kind: Kind) => (kinds ? (kinds.find((each) => each.kind === kind)?.verbs ?? []) : VERBS)
  const verbs = verbsOf(asked.kind)
  const choose = (kind: Kind) => {
    const known = verbsOf(kind)
    setAsked({ ...asked, kind, verb: known.includes(asked.verb) ? asked.verb : "read" })
  }
  return (
    <Panel title={token ? t("roles.questionOf", { name: token.name }) : t("roles.question")} note={t("roles.bySaved")}>
      <div className={classes.ask}>
        {!token && <Select size="xs" searchable aria-label={t("access.user")} placeholder={t("access.user")} data={users.data?.map(({ username }) => username) ?? []} value={asked.user} onChange={(user) => setAsked({ ...asked, user })} />}
        <Select size="xs" aria-label={t("roles.right")} data={verbs.map((value) => ({ value, label: t(`rights.${value}`) }))} value={asked.verb} onChange={(verb) => setAsked({ ...asked, verb: (verb ?? "read") as Verb })} />
        <Select size="xs" aria-label={t("roles.kindAsked")} data={KINDS.map((value) => ({ value, label: t(`roles.kinds.${value}`) }))} value={asked.kind} onChange={(kind) => choose((kind ?? "topic") as Kind)} />
        <TextInput size="xs" aria-label={t("roles.name")} placeholder={asked.kind === "job" ? "replay" : "orders"} value={asked.resource} onChange={(event) => setAsked({ ...asked, resource: event.currentTarget.value })} />
      </div>
      {!question && <PanelFoot>{t(token ? "roles.askName" : "roles.ask")}</PanelFoot>}
      {question && answer.error && <Failed what={t("roles.notAnswered")} error={answer.error} retry={() => void answer.refetch()} />}
      {question && answer.data && <Answer answer={answer.data} />}
    </Panel>
  )
}

function Answer({ answer }: { answer: AccessAnswer }) {
  const { t } = useTranslation()
  const by = answer.decided_by
  const reason = () => {
    if (!by) return t("roles.noRule")
    if (by.role === null) return t("roles.byToken", { scopes: by.text })
    return t(answer.allowed ? "roles.allows" : "roles.refuses", { role: nameOfRole(t, by.role), number: by.number })
  }
  return (
    <>
      <div className={classes.answer} data-allowed={answer.allowed} role="status">
        {answer.allowed ? <IconCheck size={18} stroke={1.8} aria-hidden /> : <IconBan size={18} stroke={1.8} aria-hidden />}
        <div>
          <b>{t(answer.allowed ? "roles.yes" : "roles.no")}</b>
          <div>{reason()}</div>
        </div>
      </div>
      {answer.weighed.map((each, index) => (
        <div key={index} className={classes.line} data-decides={each.outcome === "decides" || undefined}>
          <span>
            <span className="mono">{each.text}</span>
            <div className={classes.quiet}>{each.role === null ? t("roles.scopes") : t("roles.ruleOf", { role: nameOfRole(t, each.role), number: each.number })}</div>
          </span>
          <span className={classes.quiet}>{t(`roles.outcomes.${each.outcome}`)}</span>
        </div>
      ))}
    </>
  )
}
