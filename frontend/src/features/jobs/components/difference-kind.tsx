import { IconArrowBarToLeft, IconArrowBarToRight, IconArrowsSort, IconClock, IconCopy, IconEqual, IconEqualNot, IconFileBroken, IconKeyOff } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { type Tile, tokenOf } from "../report"
import classes from "./jobs.module.css"

const ICONS = {
  matched: IconEqual,
  missing_right: IconArrowBarToRight,
  missing_left: IconArrowBarToLeft,
  different: IconEqualNot,
  duplicate_right: IconCopy,
  duplicate_left: IconCopy,
  duplicate: IconCopy,
  reordered: IconArrowsSort,
  late: IconClock,
  keyless_left: IconKeyOff,
  keyless_right: IconKeyOff,
  damaged_left: IconFileBroken,
  damaged_right: IconFileBroken,
} as const satisfies Record<Tile, unknown>

/** The kind of a difference: the colour of its tile, an icon and the word. */
export function DifferenceKind({ tile }: { tile: Tile }) {
  const { t } = useTranslation()
  const Icon = ICONS[tile]
  return (
    <span className={classes.kind}>
      <DifferenceSwatch tile={tile} />
      <Icon size={15} stroke={1.6} aria-hidden />
      {t(`reconcile.tiles.${tile}`)}
    </span>
  )
}

export const DifferenceSwatch = ({ tile }: { tile: Tile }) => <span className={classes.swatch} style={{ background: `var(${tokenOf(tile)})` }} aria-hidden />
