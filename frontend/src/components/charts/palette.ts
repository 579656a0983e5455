/** A canvas knows no CSS variables: tokens are resolved when a chart is made. */
export type Palette = (token: string) => string

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const known = new Map<string, string>()
  return (token) => {
    const found = known.get(token) ?? style.getPropertyValue(token).trim()
    known.set(token, found)
    return found
  }
}

/** The colour with an alpha in hex, for tints. */
export const tint = (color: string, alpha: number): string =>
  `${color}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0")}`

export const seriesColors = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5"] as const
export const OTHERS_COLOR = "--series-6"
