import { useTranslation } from "react-i18next"
import { PhoneRows } from "@/components/data-table/phone-rows"
import type { Sample } from "../report"
import type { ReconcileRequest } from "../request"
import { DifferenceKind } from "./difference-kind"
import { DifferencePlace } from "./difference-place"
import { Why } from "./difference-why"
import classes from "./jobs.module.css"

interface DifferenceRowsProps {
  samples: readonly Sample[]
  request: Partial<ReconcileRequest>
  idOf: (sample: Sample) => string
  onSelect: (sample: Sample) => void
}

/** For a phone: the key and the kind, then what differs and where; the key opens both sides. */
export function DifferenceRows({ samples, request, idOf, onSelect }: DifferenceRowsProps) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("reconcile.samples")} rows={samples.map((sample) => ({ name: idOf(sample), sample }))}>
      {({ sample }) => (
        <>
          <button type="button" className={classes.opens} onClick={() => onSelect(sample)}>
            <span className={sample.key === null ? undefined : "mono"}>{sample.key ?? t("reconcile.noKey")}</span>
          </button>
          <DifferenceKind tile={sample.class} />
          <small>
            <Why sample={sample} />
          </small>
          <small>
            <DifferencePlace place={sample.left} topic={request.left?.topic} /> · <DifferencePlace place={sample.right} topic={request.right?.topic} />
          </small>
        </>
      )}
    </PhoneRows>
  )
}
