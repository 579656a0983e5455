import { ActionIcon } from "@mantine/core"
import { IconStar, IconStarFilled } from "@tabler/icons-react"
import tableClasses from "@/components/data-table/data-table.module.css"
import { type Store, useStore } from "@/lib/store"

interface PinStarProps {
  name: string
  /** Where the pinned names are kept, in this browser. */
  pins: Store<string[]>
  label: string
}

/** Pins a row to the top of its list. */
export function PinStar({ name, pins, label }: PinStarProps) {
  const pinned = useStore(pins)
  const isPinned = pinned.includes(name)
  const Star = isPinned ? IconStarFilled : IconStar
  return (
    <ActionIcon
      size={22}
      className={tableClasses.onHover ?? ""}
      data-on={isPinned || undefined}
      aria-label={label}
      aria-pressed={isPinned}
      onClick={() => pins.set(isPinned ? pinned.filter((other) => other !== name) : [...pinned, name])}
    >
      <Star size={14} stroke={1.6} />
    </ActionIcon>
  )
}
