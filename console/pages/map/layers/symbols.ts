import type { Map as MapLibre } from 'maplibre-gl'
import { STATE_COLOURS, STATES } from '../fleet/deviceState.ts'

/* The pictures of devices: a dot, with a tip in the direction of travel when it moves. */

const SIZE = 72
const RATIO = 2

const draw = (colour: string, hasCourse: boolean, isHollow: boolean): ImageData => {
  const canvas = document.createElement('canvas')
  canvas.width = SIZE
  canvas.height = SIZE
  const context = canvas.getContext('2d') as CanvasRenderingContext2D
  const centre = SIZE / 2
  const radius = 15
  context.lineJoin = 'round'
  const shape = () => {
    context.beginPath()
    if (hasCourse) {
      context.moveTo(centre, 5)
      context.lineTo(centre + 12.5, centre - 9)
      context.arc(centre, centre, radius, -0.62, Math.PI + 0.62)
      context.closePath()
    } else context.arc(centre, centre, radius, 0, Math.PI * 2)
  }
  context.shadowColor = 'rgba(10, 16, 40, 0.35)'
  context.shadowBlur = 7
  context.shadowOffsetY = 2
  shape()
  context.lineWidth = 8
  context.strokeStyle = '#fff'
  context.stroke()
  context.shadowColor = 'transparent'
  shape()
  context.fillStyle = isHollow ? '#fff' : colour
  context.fill()
  if (isHollow) {
    context.lineWidth = 5
    context.strokeStyle = colour
    context.stroke()
  }
  return context.getImageData(0, 0, SIZE, SIZE)
}

export const addSymbols = (map: MapLibre): void => {
  for (const state of STATES)
    for (const hasCourse of [true, false]) {
      const id = `${state}${hasCourse ? '-moving' : ''}`
      if (!map.hasImage(id))
        map.addImage(id, draw(STATE_COLOURS[state], hasCourse, state === 'expired'), {
          pixelRatio: RATIO,
        })
    }
}
