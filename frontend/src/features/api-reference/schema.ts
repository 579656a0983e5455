import type { ApiDocument, Schema } from "./document"

export interface FieldLine {
  /** As one would write it in a problem's pointer: `job.source.topic`, `messages[].keys`. */
  place: string
  type: string
  required: boolean
  words: string
}

/** Deeper parts are as in the parts above them; the document has schemas that hold themselves. */
const DEEPEST = 3

/** A schema without references and with the parts of `allOf` as one. */
export function resolved(schema: Schema, document: ApiDocument): Schema {
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)
    const { description, default: usual } = schema
    const named = resolved(document.components.schemas[name] ?? {}, document)
    return { ...named, ...(description !== undefined && { description }), ...(usual !== undefined && { default: usual }) }
  }
  if (!schema.allOf) return schema
  const { allOf, ...own } = schema
  return [...allOf.map((part) => resolved(part, document)), own].reduce((whole, part) => ({
    ...whole,
    ...part,
    properties: { ...whole.properties, ...part.properties },
    required: [...(whole.required ?? []), ...(part.required ?? [])],
  }))
}

const choicesOf = ({ oneOf, anyOf }: Schema): Schema[] => oneOf ?? anyOf ?? []

/** One line for each field of a body, as deep as somebody fills in by hand. */
export function fieldsOf(schema: Schema, document: ApiDocument, place = "", depth = 0): FieldLine[] {
  const found = resolved(schema, document)
  if (depth > DEEPEST) return []
  const choices = choicesOf(found).flatMap((choice) => fieldsOf(choice, document, place, depth))
  const own = Object.entries(found.properties ?? {}).flatMap(([name, field]) => {
    const inner = resolved(field, document)
    const at = place ? `${place}.${name}` : name
    const line = { place: at, type: typeOf(inner, document), required: found.required?.includes(name) ?? false, words: wordsOf(inner) }
    return [line, ...fieldsOf(inner, document, at, depth + 1)]
  })
  const items = found.items ? fieldsOf(found.items, document, `${place}[]`, depth + 1) : []
  return unique([...own, ...choices, ...items])
}

const unique = (lines: FieldLine[]) => lines.filter(({ place }, index) => lines.findIndex((line) => line.place === place) === index)

/** A type in few words: `string (date-time)`, `array of integer`, `"asc" | "desc"`. */
export function typeOf(schema: Schema, document: ApiDocument): string {
  const found = resolved(schema, document)
  if (found.enum) return found.enum.filter((value) => value !== "").map((value) => JSON.stringify(value)).join(" | ")
  if (found.items) return `array of ${typeOf(found.items, document)}`
  const choices = choicesOf(found)
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeOf(choice, document)))].join(" | ")
  const type = [found.type ?? (found.properties ? "object" : "any")].flat().join(" | ")
  return found.format ? `${type} (${found.format})` : type
}

function wordsOf({ description = "", minimum, maximum, maxLength, default: usual }: Schema): string {
  const bounds = [
    usual === undefined ? "" : `= ${JSON.stringify(usual)}`,
    minimum === undefined ? "" : `≥ ${minimum}`,
    maximum === undefined ? "" : `≤ ${maximum}`,
    maxLength === undefined ? "" : `≤ ${maxLength} characters`,
  ].filter(Boolean)
  return [description, bounds.join(", ")].filter(Boolean).join(" · ")
}
