/**
 * The drawn pictures of the documentation in a real Chromium: legible on a phone and on a desk, in light and dark, and told in words.
 * `PICTURES_SCREENSHOTS=<folder>` also writes what was looked at there.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from './_chromium.ts'

const IMAGES = new URL('../../docs/images/', import.meta.url)
const NAMES = readdirSync(IMAGES).filter((name) => name.endsWith('.svg'))
const VIEWS = (['light', 'dark'] as const).flatMap((scheme) =>
  [390, 1440].map((width) => [scheme, width] as const),
)

/** Those of the landing page, of which the pictures are relatives. */
const PALETTE = new Set(
  readFileSync(new URL('../../src/http/page.ts', import.meta.url), 'utf8')
    .match(/light-dark\([^)]*\)/g)!
    .flatMap((pair) => pair.match(/#[0-9a-f]+/g)!)
    .map(longHex),
)

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

interface Seen {
  readonly texts: readonly {
    readonly content: string
    readonly pixels: number
    readonly colour: string
    readonly behind: string
    readonly box: Box
  }[]
  readonly shapes: readonly {
    readonly name: string
    readonly colours: readonly string[]
    readonly box: Box
    readonly isBar: boolean
  }[]
  readonly card: { readonly colour: string; readonly box: Box }
  readonly description: string
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

describe.each(NAMES)('%s', (name) => {
  const source = readFileSync(new URL(name, IMAGES), 'utf8')

  test.each(VIEWS)(
    'in %s at %i px: every text has 11 px and 4.5:1, every shape 3:1',
    async (scheme, width) => {
      const { texts, shapes, card } = await look(source, name, scheme, width)

      expect(texts.filter(({ pixels }) => pixels < 11)).toEqual([])
      expect(texts.filter(({ colour, behind }) => contrast(colour, behind) < 4.5)).toEqual([])
      expect(shapes.length).toBeGreaterThan(4)
      expect(
        shapes.filter(({ colours }) => !colours.some((colour) => contrast(colour, card.colour) >= 3)),
      ).toEqual([])
    },
  )

  test.each(VIEWS)(
    'in %s at %i px: no text lies on another, on the edge of a bar or outside',
    async (scheme, width) => {
      const { texts, shapes, card } = await look(source, name, scheme, width)

      const lying = texts.flatMap((text, index) =>
        texts
          .slice(index + 1)
          .filter((other) => overlap(text.box, other.box))
          .map((other) => `${text.content} / ${other.content}`),
      )
      expect(lying).toEqual([])
      const bars = shapes.filter(({ isBar }) => isBar)
      const crossed = texts.filter(({ box }) =>
        bars.some((bar) => overlap(box, bar.box) && !within(box, bar.box)),
      )
      expect(crossed.map(({ content }) => content)).toEqual([])
      expect(texts.filter(({ box }) => !within(box, card.box)).map(({ content }) => content)).toEqual([])
    },
  )

  test('its description says each figure that it shows', async () => {
    const { texts, description } = await look(source, name, 'light', 1440)

    expect(description.length).toBeGreaterThan(80)
    const figures = texts.flatMap(
      ({ content }) => content.match(/^.*(?<!^)\b[\d.]+ (?:µs|ms)$|^[\d.]+ (?:µs|ms)$/g) ?? [],
    )
    const ticks = ticksOf(source)
    const missing = figures
      .map((figure) => figure.match(/[\d.]+(?= (?:µs|ms)$)/)![0])
      .filter(
        (figure) =>
          !ticks.has(figure) && !new RegExp(`\\b${figure.replace('.', '\\.')}\\b`).test(description),
      )
    expect(missing).toEqual([])
  })

  test('its colours are those of the landing page', () => {
    const colours = source.match(/#[0-9a-f]{6}\b|#[0-9a-f]{3}\b/g)!.map(longHex)

    expect(colours.filter((colour) => !PALETTE.has(colour))).toEqual([])
  })

  test('as an image it follows the reader’s colour scheme', async () => {
    const corners = await Promise.all(
      (['light', 'dark'] as const).map(async (scheme) => cornerOf(source, scheme)),
    )

    expect(corners).toEqual(['#ffffff', '#151c19'])
  })
})

const looked = new Map<string, Promise<Seen>>()

/** Once for each. */
function look(source: string, name: string, scheme: 'light' | 'dark', width: number): Promise<Seen> {
  const key = `${name} ${scheme} ${width}`
  const seen = looked.get(key) ?? render(source, name, scheme, width)
  looked.set(key, seen)
  return seen
}

async function render(source: string, name: string, scheme: 'light' | 'dark', width: number): Promise<Seen> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } })
  try {
    const page = await context.newPage()
    await page.setContent(
      `<!doctype html><meta name="viewport" content="width=device-width"><style>body{margin:0}svg{display:block;max-width:100%;height:auto}</style>${source}`,
    )
    const folder = process.env.PICTURES_SCREENSHOTS
    if (folder !== undefined) {
      await page.locator('svg').screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) })
    }
    return await page.evaluate(() => {
      const svg = document.querySelector('svg')!
      const boxOf = (element: Element): Box => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        return { left, right, top, bottom }
      }
      const card = svg.querySelector('rect') ?? svg
      const rects = [...svg.querySelectorAll('rect')]
      const numbers = (colour: string): number[] => colour.match(/[\d.]+/g)!.map(Number)
      const ground = numbers(getComputedStyle(card).fill)
      // As it is seen on the card.
      const seen = (element: Element, which: 'fill' | 'stroke'): string[] => {
        const style = getComputedStyle(element)
        if (style[which] === 'none') return []
        const share = Number(style[`${which}Opacity`])
        return [`rgb(${numbers(style[which]).map((part, at) => part * share + ground[at]! * (1 - share))})`]
      }
      const texts = [...svg.querySelectorAll('text')].map((text) => {
        const box = boxOf(text)
        const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
        const under = rects.filter((rect) => {
          const { left, right, top, bottom } = boxOf(rect)
          const isBefore = (rect.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
          return isBefore && left <= x && x <= right && top <= y && y <= bottom
        })
        return {
          content: text.textContent ?? '',
          pixels: Number.parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM()!.a,
          colour: getComputedStyle(text).fill,
          behind: under.length > 0 ? getComputedStyle(under.at(-1)!).fill : 'rgb(255, 255, 255)',
          box,
        }
      })
      const decoration = '.card,.grid,.halo,.cover,marker *'
      const shapes = [...svg.querySelectorAll('rect,circle,path,line,polyline')]
        .filter((element) => !element.matches(decoration))
        .map((element) => ({
          name: `${element.tagName} ${element.getAttribute('class')}`,
          colours: [...seen(element, 'fill'), ...seen(element, 'stroke')],
          box: boxOf(element),
          isBar: element.tagName === 'rect',
        }))
      return {
        ...{ texts, shapes },
        card: { colour: getComputedStyle(card).fill, box: boxOf(card) },
        description: svg.querySelector('desc')?.textContent ?? '',
      }
    })
  } finally {
    await context.close()
  }
}

/** The colour of the card, of the picture in an `img`. */
async function cornerOf(source: string, scheme: 'light' | 'dark'): Promise<string> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 600, height: 800 } })
  try {
    const page = await context.newPage()
    const url = `data:image/svg+xml;base64,${Buffer.from(source).toString('base64')}`
    await page.setContent(`<style>body{margin:0}</style><img src="${url}">`)
    await page.waitForFunction(() => document.querySelector('img')!.naturalWidth > 0)
    const picture = await page.screenshot({ clip: { x: 30, y: 6, width: 1, height: 1 } })
    return await page.evaluate(async (encoded) => {
      const image = new Image()
      image.src = `data:image/png;base64,${encoded}`
      await image.decode()
      const canvas = document.createElement('canvas').getContext('2d')!
      canvas.drawImage(image, 0, 0)
      const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data
      return `#${[red!, green!, blue!].map((part) => part.toString(16).padStart(2, '0')).join('')}`
    }, picture.toString('base64'))
  } finally {
    await context.close()
  }
}

/** The numbers of an axis, which is no figure. */
function ticksOf(source: string): ReadonlySet<string> {
  return new Set(
    [...source.matchAll(/<text class="soft"[^>]*>([\d.]+) (?:µs|ms)</g)].map((match) => match[1]!),
  )
}

function longHex(hex: string): string {
  return hex.length === 4 ? `#${[...hex.slice(1)].map((digit) => digit + digit).join('')}` : hex
}

/** WCAG 2.2, "contrast ratio". */
function contrast(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (lighter! + 0.05) / (darker! + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = colour.match(/[\d.]+/g)!.map((part) => {
    const share = Number(part) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** By more than the pixel that rounding takes. */
function overlap(one: Box, other: Box): boolean {
  return (
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1
  )
}

function within(inner: Box, outer: Box): boolean {
  return (
    inner.left >= outer.left - 1 &&
    inner.right <= outer.right + 1 &&
    inner.top >= outer.top - 1 &&
    inner.bottom <= outer.bottom + 1
  )
}
