import { IconBan, IconCheck, IconPointFilled, IconX } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { Covered, RoleRule } from "@/lib/api-types"
import { cycled, effectOf, type Verb, VERBS } from "../role-draft"
import classes from "./roles.module.css"

interface RuleRowProps {
  rule: RoleRule
  /** The rule at this place as it is saved. */
  saved: RoleRule | undefined
  hits: Covered | undefined
  /** The verbs that mean something for the kind. */
  verbs: readonly Verb[]
  onChange: ((rule: RoleRule | null) => void) | undefined
}

export function RuleRow({ rule, saved, hits, verbs, onChange }: RuleRowProps) {
  const { t } = useTranslation()
  const old = saved?.kind === rule.kind && saved.pattern === rule.pattern ? saved : undefined
  return (
    <tr>
      <td>{t(`roles.kinds.${rule.kind}`)}</td>
      <td className="mono">{rule.pattern}</td>
      <td title={hits ? (hits.unknown_reason ?? hits.names.join(t("list.comma"))) : undefined}>{hits?.count ?? "—"}</td>
      {VERBS.map((verb) => (
        <td key={verb}>
          {verbs.includes(verb) && <Cell rule={rule} verb={verb} isUnsaved={effectOf(old, verb) !== effectOf(rule, verb)} onChange={onChange} />}
        </td>
      ))}
      {onChange && (
        <td>
          <button type="button" className={classes.cell} aria-label={t("roles.remove", { kind: t(`roles.kinds.${rule.kind}`), pattern: rule.pattern })} onClick={() => onChange(null)}>
            <IconX size={14} stroke={1.6} />
          </button>
        </td>
      )}
    </tr>
  )
}

interface CellProps {
  rule: RoleRule
  verb: Verb
  isUnsaved: boolean
  onChange: ((rule: RoleRule) => void) | undefined
}

const ICONS = { allow: IconCheck, refuse: IconBan, none: IconPointFilled }

function Cell({ rule, verb, isUnsaved, onChange }: CellProps) {
  const { t } = useTranslation()
  const effect = effectOf(rule, verb)
  const Icon = ICONS[effect]
  return (
    <button
      type="button"
      className={classes.cell}
      data-effect={effect}
      data-unsaved={isUnsaved || undefined}
      disabled={!onChange}
      aria-label={t("roles.cell", { kind: t(`roles.kinds.${rule.kind}`), pattern: rule.pattern, right: t(`rights.${verb}`), effect: t(`roles.effects.${effect}`) })}
      onClick={() => onChange?.(cycled(rule, verb))}
    >
      <Icon size={effect === "none" ? 7 : 16} stroke={1.8} />
    </button>
  )
}
