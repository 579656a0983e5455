export interface CodeToken {
  text: string
  kind: "plain" | "url" | "string" | "number" | "literal" | "key"
}

type Rule = [kind: CodeToken["kind"], pattern: string]

const CURL: Rule[] = [
  ["string", String.raw`"(?:\\.|[^"\\])*"|'(?:[^']|'\\'')*'`],
  ["url", String.raw`https?://\S+`],
]

const JSON_RULES: Rule[] = [
  ["key", String.raw`"(?:\\.|[^"\\])*"(?=\s*:)`],
  ["string", String.raw`"(?:\\.|[^"\\])*"`],
  ["number", String.raw`-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b`],
  ["literal", String.raw`\b(?:true|false|null)\b`],
]

/** Cut a text into coloured pieces by the first rule that fits at each place. */
function tokens(text: string, rules: Rule[]): CodeToken[] {
  const pattern = new RegExp(rules.map(([, source]) => `(${source})`).join("|"), "g")
  const found: CodeToken[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), kind: "plain" })
    const rule = match.slice(1).findIndex((group) => group !== undefined)
    found.push({ text: match[0], kind: rules[rule]?.[0] ?? "plain" })
    end = match.index + match[0].length
  }
  if (end < text.length) found.push({ text: text.slice(end), kind: "plain" })
  return found
}

export const curlTokens = (text: string) => tokens(text, CURL)
export const jsonTokens = (text: string) => tokens(text, JSON_RULES)
