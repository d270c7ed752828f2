/** The parts of docs/tutorial.md, and of pages about one way, in their order: what a reader types, and what a reader writes into files. */
import { readFileSync } from 'node:fs'

export type Part =
  | { readonly kind: 'command'; readonly text: string }
  /** `place`: where in the file; undefined for all of it. */
  | {
      readonly kind: 'file'
      readonly path: string
      readonly place: string | undefined
      readonly text: string
    }

/** What begins a part that only some readers need, by the target that they chose. */
const CHOICES: { readonly [words: string]: string } = {
  'Cloudflare Workers.': 'cloudflare',
  'Vercel.': 'vercel',
  'Your own machine.': 'node',
}

/** @param target whose reader this is: what the page says for the others is left out. */
export function tutorialFor(target: string, file: string): Part[] {
  const parts: Part[] = []
  let choice: string | undefined
  const page = readFileSync(file, 'utf8')
  for (const [, heading, words, language, block = ''] of page.matchAll(
    /^(## .*)$|^\*\*([^*]+)\*\* |^```(\w+)\n([\s\S]*?)^```$/gm,
  )) {
    if (heading !== undefined) choice = undefined
    else if (words !== undefined) choice = CHOICES[words]
    else if (choice === undefined || choice === target)
      parts.push(...(language === 'sh' ? commandsIn(block) : [fileIn(block)]))
  }
  return parts
}

/** Without comments. */
function commandsIn(block: string): Part[] {
  const lines = block.split('\n').map((line) => line.replace(/\s+#\s.*$/, '').trim())
  return lines.filter((line) => line !== '').map((text) => ({ kind: 'command', text }))
}

/** All that a page about one way says to type and to write: code that names no file is only shown. */
export function partsOf(file: string): Part[] {
  return [...readFileSync(file, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, language, block = '']) => {
      if (language === 'sh') return commandsIn(block)
      return /^\/\/ [\w/]+\.[jt]s\n/.test(block) ? [fileIn(block)] : []
    },
  )
}

/** Its first line says where it belongs. */
function fileIn(block: string): Part {
  const [, path, place, text] = /^\/\/ ([\w./]+)(?:, ([\w ]+))?\n([\s\S]*)$/.exec(block) ?? []
  if (path === undefined || text === undefined) throw new Error(`this code names no file: ${block}`)
  return { kind: 'file', path, place, text }
}

/** The file after a reader has added `text`. */
export function added(file: string, place: string, text: string): string {
  switch (place) {
    case 'at the top':
      return text + file
    case 'after tools':
      return file.replace(/^ {2}tools: .*\n/m, (line) => `${line}  ${text}`)
    case 'below the imports':
      return file.replace(/^(?:import .*\n)+/m, (imports) => `${imports}\n${text}`)
    default:
      throw new Error(`no one knows where this is: ${place}`)
  }
}
