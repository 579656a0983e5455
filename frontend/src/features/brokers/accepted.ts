const NUMBER = /^a number from ([\d,]+) to ([\d,]+)$/
const numberOf = (words: string) => BigInt(words.replaceAll(",", ""))
const FORMS: readonly [RegExp, RegExp][] = [
  [/^a name of letters, digits, %, \|, _ and -$/, /^[%|a-zA-Z0-9_-]+$/],
  [/^hours of the day like /, /^(?:[01]?\d|2[0-3])(?: *; *(?:[01]?\d|2[0-3]))*$/],
  [/^times like /, /^\d{1,9}[smhd](?: +\d{1,9}[smhd])*$/],
]

/** Whether a setting takes a text, by the words in which the API says what it takes; of other words only the server knows. */
export function isAccepted(accepts: string | null, typed: string): boolean {
  if (accepts === null) return true
  const text = typed.trim()
  const [, low, high] = NUMBER.exec(accepts) ?? []
  if (low !== undefined && high !== undefined) return /^-?\d{1,19}$/.test(text) && BigInt(text) >= numberOf(low) && BigInt(text) <= numberOf(high)
  const form = FORMS.find(([words]) => words.test(accepts))
  if (form) return form[1].test(text)
  const choices = /^\S+(?: or \S+)+$/.test(accepts) ? accepts.toLowerCase().split(" or ") : null
  return choices === null || choices.includes(text.toLowerCase())
}
