import { TextInput } from "@mantine/core"
import { IconArrowRight } from "@tabler/icons-react"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import type { ProbeReport } from "@/lib/api-types"
import { isAddress } from "../addresses"
import classes from "./clusters-page.module.css"

interface AddressMapProps {
  report: ProbeReport | undefined
  map: Record<string, string>
  onMap: (map: Record<string, string>) => void
}

/** For announced addresses that this host cannot reach: where to connect instead. */
export function AddressMap({ report, map, onMap }: AddressMapProps) {
  const { t } = useTranslation()
  const silent = report?.brokers.filter(({ reachable }) => !reachable).map(({ announced }) => announced) ?? []
  const addresses = [...new Set([...Object.keys(map), ...silent])]
  if (addresses.length === 0) return null
  return (
    <Field label={t("clusters.map")} description={t("clusters.mapWords")}>
      {addresses.map((announced) => (
        <div key={announced} className={classes.mapped}>
          <span className="mono">{announced}</span>
          <IconArrowRight size={15} stroke={1.6} aria-hidden />
          <TextInput
            aria-label={t("clusters.insteadOf", { announced })}
            placeholder="host:port"
            value={map[announced] ?? ""}
            error={faultOf(t, map[announced]?.trim() ?? "")}
            onChange={(event) => onMap({ ...map, [announced]: event.currentTarget.value })}
          />
        </div>
      ))}
    </Field>
  )
}

const faultOf = (t: TFunction, address: string): string | null => (address === "" || isAddress(address) ? null : t("details.hostPort", { name: address }))
