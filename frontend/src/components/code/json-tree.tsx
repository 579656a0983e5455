import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { ExactNumber, ExactObject } from "@/lib/exact-json"
import classes from "./json-tree.module.css"

interface JsonTreeProps {
  /** A value of JSON, or what `exactJson` read, whose numbers and repeated names stay as they are written. */
  data: unknown
  /** A word beside a value: that it is the key, or what a time is in the chosen zone. */
  noteOf?: (value: unknown) => string | null
}

/** JSON as two columns without braces: key, value, note. Branches fold. */
export function JsonTree({ data, noteOf }: JsonTreeProps) {
  return (
    <div className={classes.tree} role="tree" tabIndex={0}>
      {isBranch(data) ? <Children data={data} depth={0} noteOf={noteOf} /> : <Leaf value={data} />}
    </div>
  )
}

interface NodeProps {
  depth: number
  noteOf: JsonTreeProps["noteOf"]
}

function Children({ data, ...rest }: NodeProps & { data: object }) {
  return membersOf(data).map(([name, value], index) => <Node key={index} name={name} value={value} {...rest} />)
}

function Node({ name, value, depth, noteOf }: NodeProps & { name: string; value: unknown }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(depth === 0 && !Array.isArray(value))
  if (!isBranch(value)) {
    const note = noteOf?.(value)
    return (
      <Line name={name} depth={depth}>
        <Leaf value={value} />
        {note && <span className={classes.note}>{note}</span>}
      </Line>
    )
  }
  const words = Array.isArray(value) ? t("json.items", { count: value.length }) : t("json.fields", { count: sizeOf(value) })
  return (
    <>
      <Line name={name} depth={depth} fold={{ isOpen, onClick: () => setOpen(!isOpen) }}>
        <span className={classes.note}>{words}</span>
      </Line>
      {isOpen && <Children data={value} depth={depth + 1} noteOf={noteOf} />}
    </>
  )
}

interface LineProps {
  name: string
  depth: number
  fold?: { isOpen: boolean; onClick: () => void }
  children: ReactNode
}

function Line({ name, depth, fold, children }: LineProps) {
  return (
    <div className={classes.line} role="treeitem" aria-expanded={fold?.isOpen} aria-selected={false}>
      <span className={classes.key} style={{ paddingInlineStart: depth * 16 }}>
        {fold ? (
          <button type="button" className={classes.fold} onClick={fold.onClick} aria-label={name}>
            {fold.isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span className={classes.fold} />
        )}
        {name}
      </span>
      <span className={classes.value}>{children}</span>
    </div>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className={classes.string}>{JSON.stringify(value)}</span>
  if (value instanceof ExactNumber) return <span className={classes.number}>{value.text}</span>
  if (typeof value === "number") return <span className={classes.number}>{String(value)}</span>
  return <span className={classes.literal}>{String(value)}</span>
}

const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null && !(value instanceof ExactNumber)
const membersOf = (value: object): [name: string, value: unknown][] => (value instanceof ExactObject ? value.members : Object.entries(value))
const sizeOf = (value: unknown): number => (isBranch(value) ? membersOf(value).length : 0)
