/** The line that says what a command waits for: where it is, when, and how often it is written. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Show, withProgress } from '../../deploy/terminal/progress.ts'
import { terminal } from '../../deploy/terminal/terminal.ts'
import { MayflyProcess, Project } from './_dev-process.ts'
import { leftOf, Screen } from './_screen.ts'
import { STEERING } from './_terminal.ts'

const ERASE = '\r\u001b[K'

describe('a line', () => {
  const { isTTY, columns } = process.stderr
  let written: string[]
  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubEnv('TERM', 'xterm')
    vi.stubEnv('NO_COLOR', '1')
    vi.stubEnv('FORCE_COLOR', undefined)
    Object.assign(process.stderr, { isTTY: true, columns: 80 })
    written = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      written.push(String(text))
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    vi.useRealTimers()
    Object.assign(process.stderr, { isTTY, columns })
  })

  /** Something that goes on until it is told to end. */
  function start(): { show: Show; end: () => Promise<void> } {
    let resolve = (): void => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    let show: Show = () => {}
    const running = withProgress((given) => {
      show = given
      return promise
    })
    return {
      show: (...what) => show(...what),
      end: () => {
        resolve()
        return running
      },
    }
  }

  test('appears after a second, says how far, and is removed at the end', async () => {
    const { show, end } = start()
    show('embedding', '0 of 128 chunks')
    vi.advanceTimersByTime(999)
    expect(written).toEqual([])

    vi.advanceTimersByTime(1001)
    show('embedding', '64 of 128 chunks')
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toBe(`${ERASE}embedding: 64 of 128 chunks (2 s)`)

    await end()
    expect(written.at(-1)).toBe(ERASE)
    const count = written.length
    vi.advanceTimersByTime(10_000)
    expect(written).toHaveLength(count)
  })

  test('is written five times a second at most, however often it changes, and not again if it is the same', async () => {
    const { show, end } = start()
    for (let ms = 0; ms < 10_000; ms++) {
      show('embedding', `${ms} of 10000 chunks`)
      vi.advanceTimersByTime(1)
    }
    expect(written.length).toBeGreaterThan(30)
    expect(written.length).toBeLessThanOrEqual(50)
    const before = written.length
    vi.advanceTimersByTime(10_000)
    expect(written.length - before).toBeLessThanOrEqual(11)
    await end()
  })

  test('goes where something else is written, and comes back below', async () => {
    const { show, end } = start()
    show('uploading')
    vi.advanceTimersByTime(1400)
    terminal.warn('a warning')
    expect(written.slice(-2)).toEqual([`${ERASE}uploading (1 s)`, `${ERASE}mayfly: a warning\n`])
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toBe(`${ERASE}uploading (1 s)`)
    await end()
  })

  test.each(['Uploading... ', 'Which account?\n', 'Token:\n'])(
    'is not written over what another program said last: %j',
    async (said) => {
      const { show, end } = start()
      show('uploading')
      terminal.pass(said)
      vi.advanceTimersByTime(5000)
      expect(written).toEqual([said])
      terminal.pass('done\n')
      vi.advanceTimersByTime(200)
      expect(written.at(-1)).toBe(`${ERASE}uploading (5 s)`)
      await end()
    },
  )

  test('the innermost is shown, and the outer one after it', async () => {
    const outer = start()
    outer.show('deploying')
    vi.advanceTimersByTime(1200)
    const inner = start()
    inner.show('asking who is logged in')
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toBe(`${ERASE}asking who is logged in (0 s)`)
    await inner.end()
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toBe(`${ERASE}deploying (1 s)`)
    await outer.end()
  })

  test('is removed if it fails, and cut at the width of the terminal', async () => {
    const running = withProgress(async (show) => {
      show('x'.repeat(300))
      await new Promise((_, reject) => setTimeout(() => reject(new Error('no')), 2000))
    })
    const failed = expect(running).rejects.toThrow('no')
    await vi.advanceTimersByTimeAsync(2000)
    await failed
    expect(written[0]).toBe(`${ERASE}${'x'.repeat(79)}`)
    expect(written.at(-1)).toBe(ERASE)
  })

  test.each([
    ['no terminal', { isTTY: false }, 'xterm'],
    ['a terminal that cannot be steered', { isTTY: true }, 'dumb'],
  ])('%s: nothing is written', async (_, stream, term) => {
    Object.assign(process.stderr, stream)
    vi.stubEnv('TERM', term)
    const { show, end } = start()
    show('uploading')
    vi.advanceTimersByTime(5000)
    await end()
    expect(written).toEqual([])
  })
})

describe.skipIf(process.platform !== 'linux')('on a terminal', { timeout: 120_000 }, () => {
  const INTO = ['--store', './index.json', '--index', 'docs', '--model', './embed.mjs']

  async function onTerminal(args: string[], cwd: string): Promise<{ code: number | null; written: string }> {
    await using screen = new Screen(args, cwd)
    const code = await screen.end()
    return { code, written: screen.raw }
  }

  function arrange(): Project {
    const project = new Project()
    mkdirSync(join(project.folder, 'docs'))
    project.write('docs/a.md', '# A\n\nHello.\n')
    project.write('package.json', '{ "name": "shop", "type": "module" }')
    // Longer than the second after which the line appears.
    project.write(
      'embed.mjs',
      `import { setTimeout as delay } from 'node:timers/promises'
export default async (texts) => (await delay(1800), texts.map((text) => [text.length, 1]))`,
    )
    return project
  }

  test('ingest shows what it does and how far it is, and leaves only its result', async () => {
    await using project = arrange()
    const { code, written } = await onTerminal(['ingest', 'docs', ...INTO], project.folder)
    expect(code, written).toBe(0)
    expect(written).toContain(`${ERASE}embedding: 0 of 1 chunks (`)
    expect(written.split(ERASE).length).toBeLessThan(20)
    expect(leftOf(written)).toMatch(/^1 document, 1 chunk: 1 new, [^\n]+\n\nNext: [^\n]+\n$/)
  })

  test('without one, and with --quiet, there is no line', async () => {
    await using project = arrange()
    const piped = await new MayflyProcess(['ingest', 'docs', ...INTO], project.folder).exited
    expect(piped.stdout + piped.stderr).not.toMatch(STEERING)
    expect(piped.stderr).not.toContain('embedding')

    project.write('docs/a.md', '# A\n\nHello again.\n')
    const quiet = await onTerminal(['ingest', 'docs', '--quiet', ...INTO], project.folder)
    expect(quiet.written).not.toContain('embedding')
  })

  test.each([
    ['doctor', '--target', 'node'],
    ['build', '--target', 'node'],
  ])('%s: a line while the server loads, and none with --json', async (...args) => {
    await using project = arrange()
    project.write(
      'server.ts',
      `await new Promise((done) => setTimeout(done, 1800))\nexport default { fetch: () => new Response('') }`,
    )
    const shown = await onTerminal(args, project.folder)
    expect(shown.code, shown.written).toBe(0)
    expect(shown.written).toContain(`${ERASE}loading server.ts`)
    expect(leftOf(shown.written)).not.toContain('loading')

    const json = await onTerminal([...args, '--json'], project.folder)
    expect(json.written).not.toContain(ERASE)
    const [line = ''] = json.written.split('\n')
    expect(JSON.parse(line)).toMatchObject({ target: 'node' })
  })
})
