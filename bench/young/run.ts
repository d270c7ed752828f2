/**
 * `npm run bench:young`: what a fresh process has cost, from its start to its 1st, 100th and 1,000th `tools/call` over HTTP, beside the
 * peers. A serverless isolate answers some dozens of calls and goes: there the interpreter runs, and nothing is compiled yet.
 *
 * `-- workerd,bun` runs some runtimes, `--servers floor,mayfly` some servers, `--tools 1,10,100` other numbers of tools, `--rounds 5`
 * how many fresh processes each is measured in. Linux only: the processor's time of a process is read from /proc.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BenchCase, CASES } from '../runtimes/cases.ts'
import { CONTENDERS, dialectOf, servingOf } from '../runtimes/contenders.ts'
import { createIssuer } from '../runtimes/issuer.ts'
import { cpuMicrosecondsOf } from '../runtimes/load.ts'
import { startServer } from '../runtimes/servers.ts'
import { RUNTIMES } from '../runtimes/subject.ts'
import { spread } from '../statistics.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    servers: { type: 'string', default: 'floor,mcp-lite,mayfly,SDK v2' },
    tools: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
  },
})
const runtimes = RUNTIMES.filter((one) => positionals[0]?.split(',').includes(one) ?? true)
const contenders = CONTENDERS.filter(({ name }) => values.servers.split(',').includes(name))
const issuer = await createIssuer()
const folder = mkdtempSync(join(tmpdir(), 'mayfly-young-'))
const CALLS = [1, 100, 1000]

for (const toolCount of values.tools.split(',').map(Number)) {
  const benchCase = CASES.find(
    ({ name, fixture }) => name === 'tools/call' && fixture.toolCount === toolCount,
  )!
  for (const runtime of runtimes) {
    const samples = new Map(contenders.map(({ name }) => [name, CALLS.map((): number[] => [])]))
    for (let round = 0; round < Number(values.rounds); round++)
      for (const contender of contenders) {
        const cpu = await sample(contender, runtime, benchCase)
        for (const [index, one] of cpu.entries()) samples.get(contender.name)![index]!.push(one / 1000)
      }
    const medians = new Map([...samples].map(([name, all]) => [name, all.map((one) => spread(one).median)]))
    for (const [name, own] of medians) {
      const of = (peer: string): string =>
        medians.has(peer)
          ? own.map((ms, index) => (ms / medians.get(peer)![index]!).toFixed(2)).join(' / ')
          : '-'
      const ms = own.map((one) => one.toFixed(1)).join(' / ')
      console.log(`| ${runtime} | ${toolCount} | ${name} | ${ms} | ${of('mcp-lite')} | ${of('SDK v2')} |`)
    }
  }
}
rmSync(folder, { recursive: true, force: true })

async function sample(
  contender: (typeof CONTENDERS)[number],
  runtime: (typeof RUNTIMES)[number],
  benchCase: BenchCase,
): Promise<readonly number[]> {
  const serving = servingOf(contender, runtime, benchCase.offer)
  if (serving === undefined || typeof serving === 'string') return CALLS.map(() => Number.NaN)
  const { fixture } = benchCase
  const server = await startServer({
    ...{ runtime, name: contender.name, serving, fixture, folder, keys: issuer.keys },
  })
  try {
    const era = benchCase.eras.find((one) => dialectOf(contender, one) !== undefined)!
    const dialect = dialectOf(contender, era)!
    const cpu: number[] = []
    for (let call = 1; call <= CALLS.at(-1)!; call++) {
      await benchCase.run(server.send, dialect, issuer.token)
      if (CALLS.includes(call)) cpu.push(cpuMicrosecondsOf(server.pid))
    }
    return cpu
  } finally {
    await server.stop()
  }
}
