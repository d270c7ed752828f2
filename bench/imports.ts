/**
 * `npm run bench:imports`: how long an import takes in a fresh process on Node, deno and bun, without a bundler, beside the official SDK's.
 *
 * `-- node,bun` runs some of them, `--rounds 21` says how many fresh processes each import is measured in, and `--dist <folder>` measures
 * another build. Exits with 1 when an import takes more than its share of the SDK's.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { spread } from './statistics.ts'

const ROOT = join(import.meta.dirname, '..')
const PEER = '@modelcontextprotocol/server'
const PEERS = [PEER, '@modelcontextprotocol/client', '@hono/node-server']

/** The most that each may take, as a share of the peer's. */
const IMPORTS: readonly (readonly [name: string, most?: number])[] = [
  [PEER],
  ['mayfly-mcp', 0.4],
  ['mayfly-mcp/node', 0.6],
  ['mayfly-mcp/client'],
]

const COMMANDS: { readonly [runtime: string]: readonly string[] } = {
  node: [],
  deno: ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual'],
  bun: ['run'],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '11' },
    dist: { type: 'string', default: join(ROOT, 'dist') },
  },
})
const names = positionals[0]?.split(',') ?? Object.keys(COMMANDS)
const project = createProject()
try {
  console.log('| runtime | import | ms | of the SDK’s |\n|---|---|---|---|')
  for (const runtime of names) measure(runtime)
} finally {
  rmSync(project, { recursive: true, force: true })
}

/** The package as it is installed, with what it imports linked beside it. */
function createProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-imports-'))
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'mayfly-mcp')
  mkdirSync(own, { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(own, 'package.json'))
  cpSync(values.dist, join(own, 'dist'), { recursive: true })
  for (const name of [...Object.keys(manifest.dependencies), ...PEERS]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name] of IMPORTS) writeFileSync(fileOf(folder, name), sampleOf(name))
  return folder
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name.replaceAll(/\W/g, '-')}.js`)
}

function sampleOf(name: string): string {
  return `const start = performance.now()
await import('${name}')
console.log(performance.now() - start)
process.exit(0)
`
}

/** One after the other in each round, so that all have the same machine. */
function measure(runtime: string): void {
  const samples = new Map(IMPORTS.map(([name]) => [name, [] as number[]]))
  for (let round = -1; round < Number(values.rounds); round++)
    for (const [name, all] of samples) {
      const ms = importOnce(runtime, name)
      // The first one reads the disk.
      if (round >= 0) all.push(ms)
    }
  const medianOf = (name: string): number => spread(samples.get(name)!).median
  for (const [name, most] of IMPORTS) {
    const share = medianOf(name) / medianOf(PEER)
    const isOver = most !== undefined && share > most
    const limit = most === undefined ? '' : ` (at most ${most})`
    console.log(`| ${runtime} | ${name} | ${medianOf(name).toFixed(1)} | ${share.toFixed(2)}${limit} |`)
    if (isOver) process.exitCode = 1
  }
}

function importOnce(runtime: string, name: string): number {
  const args = COMMANDS[runtime]
  if (args === undefined)
    throw new TypeError(`Name some of ${Object.keys(COMMANDS).join(', ')}, with commas.`)
  const program = join(ROOT, 'node_modules/.bin', runtime)
  return Number(execFileSync(program, [...args, fileOf(project, name)], { cwd: project, encoding: 'utf8' }))
}
