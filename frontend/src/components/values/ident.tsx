import { Tooltip } from "@mantine/core"
import { CopyButton } from "@/components/code/copy-button"
import { shortId } from "@/lib/format"
import classes from "./values.module.css"

/** An id, cut in the middle; whole in the tooltip and in the clipboard. */
export function Ident({ id, whole = false }: { id: string; whole?: boolean }) {
  return (
    <span className={classes.ident}>
      <Tooltip label={id} disabled={whole}>
        <span>{whole ? id : shortId(id)}</span>
      </Tooltip>
      <span className="copy">
        <CopyButton text={id} size={18} />
      </span>
    </span>
  )
}
