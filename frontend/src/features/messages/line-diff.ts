/** A line of both texts, side by side; null where only the other one has it. */
export interface DiffLine {
  a: string | null
  b: string | null
  isSame: boolean
}

/** The work of a comparison grows with the product of the lines that are not the same at both ends. */
const MOST_PAIRS = 4_000_000

/** The lines of two texts side by side, as many of them equal as there can be; null if there are too many. */
export function lineDiff(a: readonly string[], b: readonly string[]): DiffLine[] | null {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  const left = a.slice(head, a.length - tail)
  const right = b.slice(head, b.length - tail)
  if (left.length * right.length > MOST_PAIRS) return null
  return [...a.slice(0, head).map(same), ...middle(left, right), ...a.slice(a.length - tail).map(same)]
}

const same = (line: string): DiffLine => ({ a: line, b: line, isSame: true })

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let gone: string[] = []
  let come: string[] = []
  const settle = () => {
    for (let n = 0; n < Math.max(gone.length, come.length); n += 1) lines.push({ a: gone[n] ?? null, b: come[n] ?? null, isSame: false })
    gone = []
    come = []
  }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [one, other] = [a[i], b[j]]
    if (one !== undefined && one === other) {
      settle()
      lines.push(same(one))
      i += 1
      j += 1
    } else if (other === undefined || (one !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      gone.push(one ?? "")
      i += 1
    } else {
      come.push(other)
      j += 1
    }
  }
  settle()
  return lines
}
