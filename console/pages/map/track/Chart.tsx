import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { isDark } from '../../../format/preferences.ts'

export interface Series {
  label: string
  unit: string
  values: readonly (number | null)[]
  colour: string
}

interface ChartProps {
  /** In milliseconds, ascending. */
  times: readonly number[]
  series: Series
  /** Shown as a vertical line. */
  playhead: number
  onPick: (at: number) => void
  label: string
}

const HEIGHT_PX = 112

const axisColours = () =>
  isDark() ? { ink: '#94a0c4', line: '#252e4c' } : { ink: '#5d6781', line: '#e3e7f1' }

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** Midnight is shown as its day. */
const tickLabel = (seconds: number): string => {
  const date = new Date(seconds * 1000)
  return date.getHours() + date.getMinutes() === 0 ? day.format(date) : clock.format(date)
}

/** Draws the playhead over the plot. */
const playheadPlugin = (readTime: () => number): uPlot.Plugin => ({
  hooks: {
    draw: (plot) => {
      const x = Math.round(plot.valToPos(readTime() / 1000, 'x', true))
      const { left, top, width, height } = plot.bbox
      if (x < left || x > left + width) return
      plot.ctx.fillStyle = '#ff9a2e'
      plot.ctx.fillRect(x - 1, top, 2, height)
    },
  },
})

export const Chart = ({ times, series, playhead, onPick, label }: ChartProps) => {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const time = useRef(playhead)
  const pick = useRef(onPick)
  time.current = playhead
  pick.current = onPick
  const dark = isDark()
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const { ink, line } = axisColours()
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false } }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: false, y: false },
          bind: {
            click: (self, _, handler) => (event) => {
              handler(event)
              const at = self.cursor.left
              if (at !== undefined && at >= 0) pick.current(self.posToVal(at, 'x') * 1000)
              return null
            },
          },
        },
        plugins: [playheadPlugin(() => time.current)],
        scales: {
          y: { range: (_, low, high) => [Math.min(0, low), high === low ? low + 1 : high * 1.08] },
        },
        axes: [
          { ...axis, size: 26, space: 64, values: (_, splits) => splits.map(tickLabel) },
          { ...axis, size: 46, space: 28 },
        ],
        series: [
          {},
          {
            stroke: series.colour,
            width: 1.8,
            fill: `${series.colour}22`,
            points: { show: false },
            spanGaps: true,
          },
        ],
      },
      [times.map((at) => at / 1000), [...series.values]],
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [times, series, dark])
  useEffect(() => plot.current?.redraw(false), [playhead])
  return (
    <figure class="chart">
      <figcaption>
        {series.label} <span class="muted">({series.unit})</span>
      </figcaption>
      <div ref={frame} role="img" aria-label={label} />
    </figure>
  )
}
