import classes from "./states.module.css"

const WIDTHS = [
  [124, 86, 52, 60],
  [74, 52, 52, 60],
  [100, 70, 52, 60],
  [112, 78, 52, 60],
  [88, 62, 52, 60],
] as const

/** Bars where the words will be; they appear only when it takes longer than a blink. */
export function SkeletonRows({ rows = 5 }: { rows?: number }) {
  return (
    <div className={`${classes.bars} ${classes.appear}`} aria-busy="true">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={classes.bar}>
          {(WIDTHS[row % WIDTHS.length] ?? WIDTHS[0]).map((width, index) => (
            <span key={index} style={{ width }} />
          ))}
        </div>
      ))}
    </div>
  )
}

const ROW_HEIGHT = 34

/** As many bars as fit the height of what is to come, such as a chart. */
export const SkeletonBlock = ({ height }: { height: number }) => (
  <div style={{ height }}>
    <SkeletonRows rows={Math.floor(height / ROW_HEIGHT)} />
  </div>
)
