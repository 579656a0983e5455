type Values = readonly (number | null)[]

/** Sums from the first series up. Where nothing is known the sum is not known either. */
export function stacked(series: readonly Values[]): (number | null)[][] {
  const length = Math.max(0, ...series.map((values) => values.length))
  const sums: (number | null)[][] = series.map(() => new Array<number | null>(length).fill(null))
  for (let index = 0; index < length; index += 1) {
    if (series.every((values) => (values[index] ?? null) === null)) continue
    let sum = 0
    series.forEach((values, layer) => {
      sum += values[index] ?? 0
      const row = sums[layer]
      if (row) row[index] = sum
    })
  }
  return sums
}

export interface Silence {
  from: number
  to: number
}

/** Where no series knows anything, from the last known to the next known sample (indexes). */
export function silences(series: readonly Values[], length: number): Silence[] {
  const found: Silence[] = []
  const isKnown = (index: number) => series.some((values) => (values[index] ?? null) !== null)
  let last = -1
  for (let index = 0; index < length; index += 1) {
    if (!isKnown(index)) continue
    if (last >= 0 && index - last > 1) found.push({ from: last, to: index })
    last = index
  }
  return found
}
