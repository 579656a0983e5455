import type { TFunction } from "i18next"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { PhoneRows } from "@/components/data-table/phone-rows"
import { Num } from "@/components/values/num"
import { usePhone } from "@/hooks/use-media"
import { count } from "@/lib/format"
import { type Classes, kindsIn, type QueueFigures } from "../report"
import { DifferenceSwatch } from "./difference-kind"
import classes from "./jobs.module.css"

interface Place {
  /** What tells it from the others. */
  id: string
  classes: Classes
  queue?: QueueFigures
}

const column = columnsFor<Place>()

/** In which queues of either side the differences are. */
export function DifferencesByQueue({ queues }: { queues: readonly QueueFigures[] }) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const rows = useMemo<Place[]>(() => queues.map((queue) => ({ id: `${queue.side} ${queue.broker} ${queue.queue_id}`, classes: queue.classes, queue })), [queues])
  const columns = useMemo(
    () => [
      column("side", t("reconcile.side"), {}, ({ queue }) => queue && t(`jobs.${queue.side}`)),
      column("queue", t("topics.queue"), { isName: true }, ({ queue }) => queue && `${queue.broker} ${queue.queue_id}`),
      column("rows", t("reconcile.messages"), { align: "end", isSecondary: true, minWidth: 460 }, ({ queue }) => <Num value={queue?.rows} />),
      ...kindColumns(t, rows),
    ],
    [t, rows],
  )
  if (isPhone) return <PlaceRows label={t("reconcile.views.queues")} places={rows} />
  return <DataTable natural label={t("reconcile.views.queues")} columns={columns} rows={rows} rowId={({ id }) => id} />
}

/** Of which tags the messages are that differ. */
export function DifferencesByTag({ tags }: { tags: Readonly<Record<string, Classes>> }) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const rows = useMemo<Place[]>(() => Object.entries(tags).map(([tag, known]) => ({ id: tag, classes: known })), [tags])
  const columns = useMemo(() => [column("tag", t("jobs.tag"), { isName: true }, ({ id }) => id), ...kindColumns(t, rows)], [t, rows])
  if (isPhone) return <PlaceRows label={t("reconcile.views.tags")} places={rows} />
  return <DataTable natural label={t("reconcile.views.tags")} columns={columns} rows={rows} rowId={({ id }) => id} />
}

/** For a phone: where, and how many messages are there; then each kind of difference that occurs. */
function PlaceRows({ label, places }: { label: string; places: readonly Place[] }) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={label} rows={places.map((place) => ({ name: place.id, place }))}>
      {({ place: { id, classes: known, queue } }) => (
        <>
          <b>{queue ? `${queue.broker} ${queue.queue_id}` : id}</b>
          <span>{queue && t(`jobs.${queue.side}`)}</span>
          <small className={classes.kinds}>
            {kindsIn([known]).map((tile) => (
              <span key={tile} className={classes.kind}>
                <DifferenceSwatch tile={tile} />
                {t(`reconcile.tiles.${tile}`)} {count(known[tile] ?? 0)}
              </span>
            ))}
            {kindsIn([known]).length === 0 && t("reconcile.noneFound")}
          </small>
          <small>{queue && t("reconcile.ofMessages", { count: queue.rows, n: count(queue.rows) })}</small>
        </>
      )}
    </PhoneRows>
  )
}

const kindColumns = (t: TFunction, places: readonly Place[]) =>
  kindsIn(places.map((place) => place.classes)).map((tile) =>
    column(tile, t(`reconcile.tiles.${tile}`), { align: "end" }, (place) => (
      <span className={classes.kind}>
        {(place.classes[tile] ?? 0) > 0 && <DifferenceSwatch tile={tile} />}
        <Num value={place.classes[tile] ?? 0} />
      </span>
    )),
  )
