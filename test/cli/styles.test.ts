/** The styles of all commands: when there are colours, which, and how text is aligned and wrapped. */
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import {
  alignColumns,
  isColoured,
  type Meaning,
  stylesFor,
  widthOf,
  wrap,
} from '../../deploy/terminal/styles.ts'
import { terminal } from '../../deploy/terminal/terminal.ts'

const ON = { isTTY: true }
const OFF = { isTTY: false }

test.each([
  ['a terminal', ON, { TERM: 'xterm' }, true],
  ['a pipe', OFF, { TERM: 'xterm' }, false],
  ['a terminal without TERM, as on Windows', ON, {}, true],
  ['TERM=dumb', ON, { TERM: 'dumb' }, false],
  ['NO_COLOR', ON, { NO_COLOR: '1' }, false],
  // https://no-color.org: "when present and not an empty string".
  ['an empty NO_COLOR', ON, { NO_COLOR: '' }, true],
  ['FORCE_COLOR in a pipe', OFF, { FORCE_COLOR: '1' }, true],
  ['an empty FORCE_COLOR in a pipe', OFF, { FORCE_COLOR: '' }, true],
  ['FORCE_COLOR=0', ON, { FORCE_COLOR: '0' }, false],
  ['FORCE_COLOR=false', ON, { FORCE_COLOR: 'false' }, false],
  ['FORCE_COLOR over NO_COLOR, as in Node', OFF, { FORCE_COLOR: '3', NO_COLOR: '1' }, true],
])('%s → colours or none', (_name, stream, env, expected) => {
  expect(isColoured(stream, env)).toBe(expected)
})

const MEANINGS = Object.keys(stylesFor(true)) as Meaning[]

describe.each(MEANINGS)('%s', (meaning) => {
  const styled = stylesFor(true)[meaning]('a word')

  test('the words are the same with and without colours', () => {
    expect(stripVTControlCharacters(styled)).toBe('a word')
    expect(stylesFor(false)[meaning]('a word')).toBe('a word')
    expect(styled).not.toBe('a word')
  })

  test('is readable on a light and on a dark terminal: no yellow, cyan, blue, black, white or background', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the styles.
    const codes = [...styled.matchAll(/\u001b\[(\d+)m/g)].map(([, code]) => Number(code))
    // Bold, faint, underlined, green, magenta and red, and their ends.
    for (const code of codes) expect([1, 2, 4, 22, 24, 31, 32, 35, 39]).toContain(code)
  })

  test('is kept in what is shown on a terminal, and nothing else that steers it', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.stubEnv('FORCE_COLOR', '1')
    terminal.show(`${styled}\u001b[8m\u001b[2J\u001b]0;x\u0007\n`)
    vi.stubEnv('FORCE_COLOR', '0')
    terminal.show(`${styled}\n`)
    const [coloured, plain] = write.mock.calls.map(([text]) => String(text))
    write.mockRestore()
    vi.unstubAllEnvs()
    expect(coloured).toBe(`${styled}\\u001b[8m\\u001b[2J\\u001b]0;x\\u0007\n`)
    expect(plain).not.toContain('\u001b')
  })
})

test('columns begin at the same place, styled or not, and the last is wrapped at 80', () => {
  const { command } = stylesFor(true)
  const rows = [
    [command('--open'), 'on a terminal, open the playground in the browser: a page that tries every tool'],
    ['--no-playground', 'serve none'],
    ['a heading'],
  ]
  const text = stripVTControlCharacters(alignColumns(rows))
  expect(text).toBe(`  --open           on a terminal, open the playground in the browser: a page
                   that tries every tool
  --no-playground  serve none
  a heading`)
  expect(alignColumns([], {})).toBe('')
})

test('text is wrapped at spaces; a URL stays whole, and so do the lines that it has', () => {
  const url = `https://example.com/${'a'.repeat(80)}`
  expect(wrap(`see ${url} now\nand then`, 20)).toEqual(['see', url, 'now', 'and then'])
  expect(wrap('  indented')).toEqual(['  indented'])
  expect(widthOf(stylesFor(true).ok('ok'))).toBe(2)
})

test('messages say the same with colours; the word before them has the colour', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.stubEnv('FORCE_COLOR', '1')
  terminal.warn('a')
  terminal.fail(new Error('b'))
  const written = write.mock.calls.map(([text]) => String(text))
  write.mockRestore()
  vi.unstubAllEnvs()
  expect(written).toEqual(['\u001b[35mmayfly:\u001b[39m a\n', '\u001b[31mmayfly:\u001b[39m b\n'])
})
