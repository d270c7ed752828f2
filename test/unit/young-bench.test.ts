/** What `npm run bench:young` reports follows from bench/young.json, and its budgets only shrink. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, test } from 'vitest'
import { judgeYoung, shrunkBudgets, type YoungBudgets } from '../../bench/budgets.ts'
import { CONTENDERS, servingOf } from '../../bench/runtimes/contenders.ts'
import { ROOT, writeEntry } from '../../bench/runtimes/entry.ts'
import { RUNTIMES } from '../../bench/runtimes/subject.ts'
import { YOUNG_CASES } from '../../bench/young/measure.ts'
import { toYoungReport } from '../../bench/young/report.ts'
import { caseOf, ratiosTo, readYoung, writeYoung, type YoungRow } from '../../bench/young/results.ts'

const folder = await mkdtemp(join(tmpdir(), 'mayfly-young-test-'))
afterAll(() => rm(folder, { recursive: true }))

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Of each server the same in each call and round. */
const rowsOf = (toolCount: number, costs: Record<string, number>, rounds = 5): YoungRow[] =>
  Object.entries(costs).map(([server, ms]) => ({
    ...{ runtime: 'workerd', server, case: 'tools/call', toolCount, era: 'modern' },
    cpuMs: [1, 2, 3].map((factor) => Array<number>(rounds).fill(ms * factor)),
  }))

describe('bench/YOUNG.md', () => {
  it('is what bench/young.json and bench/young-budgets.json say', () => {
    const budgets = JSON.parse(read('bench/young-budgets.json')) as YoungBudgets
    expect(read('bench/YOUNG.md')).toBe(toYoungReport(readYoung(join(ROOT, 'bench/young.json')), budgets))
  })

  it('has the four servers in every case on all six runtimes; mcp-lite has none of JWT', () => {
    const { rows } = readYoung(join(ROOT, 'bench/young.json'))
    const cases = YOUNG_CASES.filter(({ fixture }) => fixture.toolCount <= 100)
    const wanted = RUNTIMES.flatMap((runtime) =>
      cases.flatMap((one) =>
        ['floor', 'mcp-lite', 'mayfly', 'SDK v2']
          .filter((server) => !(server === 'mcp-lite' && one.name === 'jwt'))
          .map((server) => [runtime, caseOf({ case: one.name, ...one.fixture }), server]),
      ),
    )
    expect(rows.map((row) => [row.runtime, caseOf(row), row.server])).toEqual(expect.arrayContaining(wanted))
  })
})

describe('budgets', () => {
  const ours = (mayfly: number, rounds?: number) => ({
    rows: rowsOf(10, { 'mcp-lite': 10, mayfly, 'SDK v2': 20 }, rounds),
    missing: [],
  })
  const before = shrunkBudgets(ours(12), {})

  it('what does not stream on Lambda is compared with peers that do not', () => {
    const costs = { 'mcp-lite': 10, 'mcp-lite (buffered)': 5, mayfly: 8, 'mayfly (buffered)': 6 }
    const rows = rowsOf(10, costs)
    const ratioOf = (at: number): number => ratiosTo('mcp-lite', rows[at]!, rows)![0]!
    expect([2, 3].map(ratioOf)).toEqual([0.8, 1.2])
  })

  it('of a cell without one are what was reached and 5 % more', () => {
    expect(before).toEqual({
      workerd: { '10 tools': { 'mcp-lite': [1.26, 1.26, 1.26], 'SDK v2': [0.63, 0.63, 0.63] } },
    })
  })

  it('shrink with a better run, and never grow', () => {
    expect(shrunkBudgets(ours(11), before).workerd!['10 tools']!['mcp-lite']).toEqual([1.16, 1.16, 1.16])
    expect(shrunkBudgets(ours(15), before)).toEqual(before)
  })

  it('of a quick run are replaced by any later one, and replace none', () => {
    const rough = shrunkBudgets(ours(11, 3), {})
    expect(rough.workerd!['10 tools']).toMatchObject({ isRough: true })
    expect(shrunkBudgets(ours(12), rough)).toEqual(before)
    expect(shrunkBudgets(ours(11, 3), before)).toEqual(before)
  })

  it('fail a cell that is over its budget at one of the calls', () => {
    const verdicts = (mayfly: number): readonly unknown[] =>
      judgeYoung(ours(mayfly), before).map(({ what, isMet }) => [what, isMet])
    expect(verdicts(12.5)).toEqual([
      ['workerd, 10 tools, of mcp-lite', true],
      ['workerd, 10 tools, of SDK v2', true],
    ])
    const slowAtLast = rowsOf(10, { mayfly: 12 }).map((row) => ({
      ...row,
      cpuMs: [...row.cpuMs.slice(0, 2), [99, 99, 99, 99, 99]],
    }))
    const others = ours(12).rows.filter(({ server }) => server !== 'mayfly')
    expect(judgeYoung({ rows: [...others, ...slowAtLast], missing: [] }, before)[0]!.isMet).toBe(false)
  })
})

test('a later run replaces the cases that it measured, and nothing else', () => {
  const file = join(folder, 'young.json')
  writeYoung(file, { rows: [...rowsOf(1, { mayfly: 5 }), ...rowsOf(10, { mayfly: 6 })], missing: [] })
  writeYoung(file, { rows: rowsOf(10, { mayfly: 7 }), missing: [] })

  expect(readYoung(file).rows.map(({ toolCount, cpuMs }) => [toolCount, cpuMs[0]![0]])).toEqual([
    [1, 5],
    [10, 7],
  ])
})

test.each([
  [['nobody'], 'There is no "nobody" to measure: name some of workerd,'],
  [['--servers', 'nobody'], 'There is no "nobody" to measure: name some of floor,'],
  [['--cases', 'nothing'], 'There is no "nothing" to measure: name some of tools/call, jwt,'],
  [['--tools', '7'], 'There is no "7" to measure: name some of 1, 10, 100, 524,'],
  [['--cases', 'jwt', '--tools', '1'], 'No case "jwt" has 1 tools'],
  [['workerd', 'Node'], '"Node" is one word too many'],
  [['--quik'], "Unknown option '--quik'"],
])('`npm run bench:young -- %j` is refused', async (args, message) => {
  const { code, stderr } = await run(['bench/young/run.ts', ...args])

  expect(stderr).toContain(message)
  expect(code).toBe(1)
})

describe.each(RUNTIMES)('on %s', (runtime) => {
  it.each(['tools', 'auth'] as const)('the floor has no schema library in its bundle: %s', async (offer) => {
    expect(await bundleOf('floor', offer)).not.toContain('_zod')
  })

  it('the others have one', async () => {
    expect(await bundleOf('mcp-lite', 'tools')).toContain('_zod')
  })

  async function bundleOf(server: string, offer: 'tools' | 'auth'): Promise<string> {
    const serving = servingOf(CONTENDERS.find(({ name }) => name === server)!, runtime, offer)
    if (typeof serving !== 'object' || serving.kind === 'xmcp') throw new TypeError(`no ${server}`)
    const outfile = join(folder, `${server}-${runtime}-${offer}.js`)
    const fixture = { toolCount: 10, fieldCount: 4 }
    const parts = await writeEntry({ runtime, serving, fixture, port: 1, outfile })
    const texts = await Promise.all([outfile, ...parts].map((file) => readFile(file, 'utf8')))
    return texts.join('\n')
  }
})

function run(args: readonly string[]): Promise<{ readonly code: unknown; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    )
  })
}
