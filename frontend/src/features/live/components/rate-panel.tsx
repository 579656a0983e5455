import { useTranslation } from "react-i18next"
import { Legend } from "@/components/charts/strip-chart"
import { Panel } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { compact, count, rate } from "@/lib/format"
import type { Second, TailState } from "../tail-state"
import classes from "./live.module.css"

const SECONDS = 120
const BAND = 62

interface RatePanelProps {
  state: TailState
  limit: number
  isSampled: boolean
}

/** Two bands over two minutes: what is stored, and what of it passes the filter; above the limit in amber. */
export function RatePanel({ state, limit, isSampled }: RatePanelProps) {
  const { t } = useTranslation()
  const about = isSampled ? "≈ " : ""
  const last = state.seconds.at(-1)
  return (
    <Panel
      title={t("tail.rate")}
      note={t("tail.rateWords")}
      actions={
        <Legend
          items={[
            { label: t("tail.stored"), color: "--load", square: true, value: last && `${rate(last.stored)}/s` },
            { label: t("tail.pass"), color: "--series-1", square: true, value: last && `${about}${rate(last.matched)}/s` },
            { label: t("tail.notShown"), color: "--warn-fill", square: true, isWarm: state.counts.dropped > 0, value: count(state.counts.dropped) },
            { label: t("tail.readSoFar"), color: "--panel", value: count(state.counts.read) },
          ]}
        />
      }
    >
      <div className={classes.strip} role="img" aria-label={t("tail.rateLabel")} data-paused={state.pausedAt !== null || undefined}>
        <Bars seconds={state.seconds} bandOf={({ stored }) => ({ calm: stored, warm: 0 })} color="var(--load)" />
        <Bars
          seconds={state.seconds}
          bandOf={({ matched, dropped }) => ({ calm: Math.max(0, matched - dropped), warm: Math.min(matched, dropped) })}
          color="var(--series-1)"
          limit={limit}
        />
        <Times seconds={state.seconds} />
        {state.pausedAt !== null && <Flag at={state.pausedAt} seconds={state.seconds} />}
      </div>
    </Panel>
  )
}

interface BarsProps {
  seconds: readonly Second[]
  bandOf: (second: Second) => { calm: number; warm: number }
  color: string
  limit?: number
}

function Bars({ seconds, bandOf, color, limit }: BarsProps) {
  const { t } = useTranslation()
  const values = seconds.map(bandOf)
  const most = Math.max(1, ...values.map(({ calm, warm }) => calm + warm))
  const top = limit !== undefined && limit < most * 3 ? Math.max(most, limit * 1.15) : most
  const high = (value: number) => (value / top) * (BAND - 6)
  return (
    <div className={classes.band}>
      <span className={classes.axis}>
        <span>{compact(top)}</span>
        <span>0</span>
      </span>
      <svg viewBox={`0 0 ${SECONDS} ${BAND}`} preserveAspectRatio="none" height={BAND} aria-hidden>
        {values.map(({ calm, warm }, at) => {
          const x = SECONDS - values.length + at
          return (
            <g key={seconds[at]?.at}>
              <rect x={x + 0.12} width={0.76} y={BAND - high(calm)} height={high(calm)} fill={color} />
              {warm > 0 && <rect x={x + 0.12} width={0.76} y={BAND - high(calm + warm)} height={high(warm)} fill="var(--warn-fill)" />}
            </g>
          )
        })}
        {limit !== undefined && limit <= top && <line x1={0} x2={SECONDS} y1={BAND - high(limit)} y2={BAND - high(limit)} className={classes.limit} />}
      </svg>
      {limit !== undefined && limit <= top && (
        <span className={classes.limitWords} style={{ bottom: high(limit) + 2 }}>
          {t("tail.limitLine", { n: count(limit) })}
        </span>
      )}
    </div>
  )
}

function Times({ seconds }: { seconds: readonly Second[] }) {
  const format = useFormat()
  const last = seconds.at(-1)
  if (!last) return null
  return (
    <div className={classes.times}>
      {[120, 80, 40, 0].map((ago) => (
        <span key={ago}>{format.clock(last.at - ago * 1_000)}</span>
      ))}
    </div>
  )
}

function Flag({ at, seconds }: { at: string; seconds: readonly Second[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const after = seconds.filter((second) => second.at > Date.parse(at)).length
  return (
    <span className={classes.flag} style={{ insetInlineEnd: `calc((100% - 44px) * ${Math.min(1, after / SECONDS)})` }}>
      {t("tail.pausedAt", { at: format.clock(at) })}
    </span>
  )
}
