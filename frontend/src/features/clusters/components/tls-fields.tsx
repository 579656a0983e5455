import { Checkbox, Textarea } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useLanguage } from "@/hooks/use-format"
import type { Cluster, TlsInput } from "@/lib/api-types"
import { detailIn } from "@/lib/reasons"

/** What is typed of TLS; the key is empty while the stored one stays. */
export interface TlsDraft {
  isOn: boolean
  authorities: string
  certificate: string
  key: string
  checksHost: boolean
}

export const tlsDraftOf = (stored: Cluster["tls"] | undefined): TlsDraft => ({
  isOn: stored != null,
  authorities: stored?.authorities ?? "",
  certificate: stored?.certificate ?? "",
  key: "",
  checksHost: stored?.check_host ?? true,
})

/** What is sent: nothing while neither the form nor the cluster has TLS. */
export function tlsInputOf(draft: TlsDraft, stored: Cluster["tls"] | undefined): { tls?: TlsInput | null } {
  if (!draft.isOn) return stored == null ? {} : { tls: null }
  const { authorities, certificate, key, checksHost: check_host } = draft
  return { tls: { authorities, certificate, check_host, ...(key !== "" && { key }) } }
}

/** The same without the key, to be shown. */
export const shownTls = <T extends { tls?: TlsInput | null }>(body: T): T => (body.tls?.key === undefined ? body : { ...body, tls: { ...body.tls, key: "…" } })

interface TlsFieldsProps {
  draft: TlsDraft
  hasKey: boolean
  /** What the API said against them, which begins with the one that it is about. */
  refused: string | undefined
  onChange: (change: Partial<TlsDraft>) => void
}

export function TlsFields({ draft, hasKey, refused, onChange }: TlsFieldsProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const { of = "", words } = ABOUT.exec(refused ?? "")?.groups ?? {}
  const error = words === undefined ? null : detailIn(t, language, words)
  return (
    <>
      <Checkbox label={t("clusters.tls")} description={t("clusters.tlsWords")} checked={draft.isOn} onChange={(event) => onChange({ isOn: event.currentTarget.checked })} />
      {draft.isOn && (
        <>
          <Textarea label={t("clusters.tlsCa")} description={t("clusters.tlsCaWords")} value={draft.authorities} error={of === AUTHORITIES && error} {...PEM} onChange={(event) => onChange({ authorities: event.currentTarget.value })} />
          <Checkbox label={t("clusters.tlsHost")} description={t("clusters.tlsHostWords")} checked={draft.checksHost} onChange={(event) => onChange({ checksHost: event.currentTarget.checked })} />
          <Textarea label={t("clusters.tlsCert")} description={t("clusters.tlsCertWords")} value={draft.certificate} error={of !== AUTHORITIES && error} {...PEM} onChange={(event) => onChange({ certificate: event.currentTarget.value })} />
          {draft.certificate !== "" && (
            <Textarea label={t("clusters.tlsKey")} description={t(hasKey ? "clusters.tlsKeyStored" : "clusters.tlsKeyWords")} value={draft.key} {...PEM} placeholder="-----BEGIN PRIVATE KEY-----" onChange={(event) => onChange({ key: event.currentTarget.value })} />
          )}
        </>
      )}
    </>
  )
}

const AUTHORITIES = "certificates of authorities"
const ABOUT = /^(?:(?<of>certificates of authorities|client certificate): )?(?:(?:authorities|certificate|key): )?(?<words>.+)$/
const PEM = { rows: 3, spellCheck: false, placeholder: "-----BEGIN CERTIFICATE-----", autoComplete: "off" }
