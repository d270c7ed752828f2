/**
 * `mayfly build --target mcpb`: a desktop bundle, which applications such as Claude Desktop install with a double click. There is no
 * platform: the server runs on the user's machine, over stdio, on the application's own Node.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { zipSync } from 'fflate'
import { toJsonLine } from '../../../src/definition/json-line.ts'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import type { Artefact, Project } from '../../contract/target.ts'
import type { Identity } from '../../doctor/describe.ts'
import { describeServer, faultOf } from '../../doctor/load.ts'
import { ownModule } from '../../project/own-module.ts'
import { manifestIn, projectFolders, readProject } from '../../project/project.ts'
import { CliError, printable, UsageError } from '../../terminal/cli-error.ts'
import { oneEntry, oneTarget, parseCommand } from '../../terminal/command-line.ts'
import type { Help } from '../../terminal/help.ts'
import { terminal } from '../../terminal/terminal.ts'
import { buildInto, describeSize } from '../build-into.ts'
import { type BundleManifest, manifestOf, SERVER_FILE } from './manifest.ts'

const HELP: Help = {
  usage: ['mayfly build [entry] --target mcpb [--env <variable>]... [--out <folder>] [--json] [--quiet]'],
  options: [
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts',
    ],
    [
      '--env',
      'a variable that the server needs: the application prompts its user for it and stores it as a secret; may be repeated',
    ],
    ['--out', 'where to write; default dist/mcpb. Replaces an earlier build there.'],
    ['--json', 'print { target, out, main, size, limits } as JSON'],
    ['--quiet', 'print only warnings and errors'],
  ],
  text: [
    'Writes <id>.mcpb, a desktop bundle with the server and its manifest, and its unpacked content in the folder bundle.',
  ],
  examples: ['mayfly build --target mcpb'],
  page: 'deploy/desktop.md',
}

// Not from `mayfly-mcp/node`, which also needs an HTTP package.
// Answers to questions come back to this process, so the secret does not have to outlive it.
const MAIN = `import { randomBytes } from 'node:crypto'
import exported from 'mayfly:entry'
import { startStdio } from ${JSON.stringify(ownModule('adapters/_node/stdio'))}
import { serverWithin } from ${JSON.stringify(ownModule('src/http/mounted'))}

const env = { MAYFLY_SECRET: randomBytes(32).toString('base64url'), ...process.env }
const running = await startStdio(serverWithin(exported), { env })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void running.close())
await running.closed
process.exit(0)
`

export async function buildMcpb(args: string[]): Promise<number> {
  const line = parseCommand('build', HELP, args, {
    target: { type: 'string', multiple: true },
    env: { type: 'string', multiple: true },
    out: { type: 'string' },
    json: { type: 'boolean' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  oneTarget(values.target)
  if (values.quiet) terminal.beQuiet()
  if (values.json) terminal.hideProgress()
  const variables = (values.env ?? []).map(parseVariable)
  const project = readProject(process.cwd(), oneEntry(positionals))
  const identity = await identityOf(project)
  const folder = resolve(project.cwd, values.out ?? 'dist/mcpb')
  const build = (_project: Project, outDir: string): Promise<Artefact> =>
    writeBundle(project, identity, variables, outDir)
  const artefact = await buildInto({ build }, project, folder)
  const out = relative(project.cwd, folder)
  process.stdout.write(
    values.json
      ? `${toJsonLine({ target: 'mcpb', out, ...artefact })}\n`
      : `built ${printable(join(out, artefact.main))}: ${describeSize(artefact.size)}\n`,
  )
  if (!values.json) terminal.next(`open ${join(out, artefact.main)} with Claude Desktop`)
  return 0
}

async function identityOf(project: Project): Promise<Identity> {
  const { identity, fault, isApp } = await describeServer(project)
  if (fault !== undefined) throw faultOf(project, fault)
  if (isApp)
    throw new CliError(
      'the entry exports an app, but a desktop bundle does not serve HTTP: pass the module whose default export is the server, as in mayfly build src/mcp.ts --target mcpb',
    )
  if (identity !== undefined) return identity
  throw new CliError(
    'the entry does not export an MCPServer, which stdio requires: pass the module that does, or bundle a server of the official SDK with its own transport',
  )
}

async function writeBundle(
  project: Project,
  identity: Identity,
  variables: readonly string[],
  outDir: string,
): Promise<Artefact> {
  const bundle = join(outDir, 'bundle')
  const outfile = join(bundle, SERVER_FILE)
  mkdirSync(dirname(outfile), { recursive: true })
  const { size, files: written } = await bundleServer(project, {
    main: MAIN,
    outfile,
    platform: 'node',
    banner: NODE_BANNER,
    isSplit: true,
  })
  const found = projectFolders(project)
    .map(manifestIn)
    .find((one) => one !== undefined)
  const manifest = manifestOf(identity, (found ?? {}) as BundleManifest, variables)
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  writeFileSync(join(bundle, 'manifest.json'), text)
  const main = `${identity.id.replaceAll(/[^\w.-]+/g, '-')}.mcpb`
  const code = written.map((name) => {
    const file = join(dirname(SERVER_FILE), name)
    return [file, readFileSync(join(bundle, file))] as const
  })
  const files = { 'manifest.json': new TextEncoder().encode(text), ...Object.fromEntries(code) }
  // A fixed date, so that the bytes are the same for the same server: a ZIP has no dates before 1980.
  writeFileSync(join(outDir, main), zipSync(files, { level: 9, mtime: '1980-01-02' }))
  return { main, size, limits: [] }
}

function parseVariable(text: string): string {
  if (/^[A-Z_][A-Z\d_]{0,99}$/i.test(text)) return text
  throw new UsageError('--env takes the name of a variable, not its value')
}
