import classes from "./steps-rail.module.css"

export interface Step {
  id: string
  label: string
  /** What was chosen in this step. */
  choice?: string | undefined
}

interface StepsRailProps {
  steps: Step[]
  current: string
  onStep: (id: string) => void
}

/** Wizard steps as a rail; every step already passed is a way back. */
export function StepsRail({ steps, current, onStep }: StepsRailProps) {
  const here = Math.max(0, steps.findIndex(({ id }) => id === current))
  const share = (index: number) => `${(index / steps.length) * 100}%`
  return (
    <div className={classes.steps}>
      <div className={classes.line} />
      {steps.map(({ id }, index) => (
        <div key={id} className={classes.tick} style={{ left: share(index) }} />
      ))}
      <div className={`${classes.tick} ${classes.last}`} />
      <div className={classes.done} style={{ width: share(here) }} />
      <div className={classes.trolley} style={{ left: share(here) }} />
      {steps.map(({ id, label, choice }, index) => (
        <button
          key={id}
          type="button"
          className={classes.step}
          aria-current={id === current ? "step" : undefined}
          disabled={index > here}
          onClick={() => onStep(id)}
        >
          {label}
          <span className={classes.choice}>{choice ?? "\u00a0"}</span>
        </button>
      ))}
    </div>
  )
}
