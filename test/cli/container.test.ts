/**
 * The container that `mayfly init --target node` writes: each step of its Dockerfile is run in a folder, with real Node and npx, and a package
 * manager that links instead of downloading; then what it starts, as Render, Railway, Fly and Cloud Run start it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { projectFiles } from '../../deploy/init/project-template.ts'
import { findTarget } from '../../deploy/targets/all.ts'
import { testPort } from '../_port.ts'
import { secretOf } from '../_secrets.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Writes its name and arguments, and installs by a link to prepared packages. */
const MANAGER = `#!/bin/sh
echo "$(basename "$0") $*" >> "$INSTALL_LOG"
case "$1" in ci|install) cp -R "$PACKAGES" node_modules; [ -d packages/shop ] && [ "$(basename "$0")" = pnpm ] && mv node_modules packages/shop/; true;; esac
`

interface Image {
  readonly folder: string
  readonly env: { readonly [name: string]: string }
  readonly command: readonly string[]
  /** What the package manager was asked. */
  readonly installed: readonly string[]
  /** The files of the first stage, after it was built. */
  readonly source: readonly string[]
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-container-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** The repository's own packages, with this package among them. */
function preparePackages(folder: string): string {
  const packages = join(folder, 'packages')
  mkdirSync(join(packages, '.bin'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!/^(?:\..*|mayfly-mcp)$/.test(name))
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  symlinkSync(ROOT, join(packages, 'mayfly-mcp'))
  // npm makes programs executable when it installs them.
  const program = `#!/bin/sh\nexec node ${join(ROOT, 'dist/deploy/cli.js')} "$@"\n`
  writeFileSync(join(packages, '.bin/mayfly'), program, { mode: 0o755 })
  return packages
}

/** Their paths, without the installed packages. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? [path, ...filesIn(path)] : [path]
    })
}

/** Does what docker would, for the instructions that the file has; throws for any other. */
function buildImage(
  context: string,
  dockerfile: string,
  given: { readonly [arg: string]: string } = {},
): Image {
  const disk = temporary()
  const log = join(disk, 'install.log')
  const bin = join(disk, 'bin')
  mkdirSync(bin)
  for (const name of ['npm', 'pnpm', 'yarn', 'corepack']) {
    writeFileSync(join(bin, name), MANAGER)
    chmodSync(join(bin, name), 0o755)
  }
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter)
  const packages = preparePackages(disk)
  const ignored = readFileSync(join(context, '.dockerignore'), 'utf8').trim().split('\n')
  const isIgnored = (file: string): boolean => {
    const parts = relative(context, file).split('/')
    return ignored.some((pattern) => {
      const name = /^\*\*\/([\w.]+)(\*?)$/.exec(pattern)!
      return parts.some((part) => (name[2] === '' ? part === name[1] : part.startsWith(name[1]!)))
    })
  }
  let stage = ''
  let cwd = ''
  let command: string[] = []
  let args: Record<string, string> = {}
  let env: Record<string, string> = {}
  const stages = new Map<string, string>()
  const place = (name: string): string =>
    join(
      stage,
      name.replaceAll(/\$\{(\w+)\}/g, (_, arg) => args[arg]!),
    )
  for (const line of dockerfile.replaceAll(/\\\n\s*/g, '').split('\n')) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (line === '' || line.startsWith('#')) continue
    else if (instruction === 'FROM') {
      stage = join(disk, `stage-${stages.size}`)
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? 'last', stage)
      ;[cwd, args, env] = [stage, {}, {}]
    } else if (instruction === 'ARG') {
      const [name = '', value = ''] = rest.split('=')
      args[name] = given[name] ?? value
    } else if (instruction === 'WORKDIR') {
      cwd = place(rest)
      mkdirSync(cwd, { recursive: true })
    } else if (rest === '. .' && instruction === 'COPY')
      cpSync(context, cwd, { recursive: true, filter: (file) => !isIgnored(file) })
    else if (instruction === 'COPY') {
      const [, from = '', source = ''] = /^--from=(\w+) (\S+) \.$/.exec(rest)!
      const at = stage
      stage = stages.get(from)!
      const copied = place(source)
      stage = at
      cpSync(copied, cwd, { recursive: true })
    } else if (instruction === 'ENV')
      Object.assign(env, Object.fromEntries(rest.split(' ').map((pair) => pair.split('='))))
    else if (instruction === 'RUN')
      execFileSync('sh', ['-c', rest], {
        cwd,
        env: { HOME: disk, PATH: path, INSTALL_LOG: log, PACKAGES: packages, ...args },
        stdio: 'pipe',
      })
    else if (instruction === 'CMD') command = JSON.parse(rest) as string[]
    else if (!/^(?:USER node|EXPOSE 8080)$/.test(line)) throw new Error(`what is ${line}?`)
  }
  const source = filesIn(stages.get('build')!)
  return {
    folder: cwd,
    env,
    command,
    installed: readFileSync(log, 'utf8').trim().split('\n'),
    source,
  }
}

/** What `init` writes, in a folder of a repository. */
function writeProject(folder: string, lockfile: string, at = '.'): void {
  const files = projectFiles({
    name: 'shop',
    templates: new Set(['asking']),
    targets: [['node', findTarget('node')]],
  })
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, at, path)), { recursive: true })
    writeFileSync(join(folder, at, path), text)
  }
  // The lockfile and the ignored files of a repository are at its root.
  writeFileSync(join(folder, lockfile), '')
  writeFileSync(join(folder, '.dockerignore'), files.get('.dockerignore')!)
  if (at !== '.') writeFileSync(join(folder, 'package.json'), '{"private":true,"workspaces":["packages/*"]}')
  mkdirSync(join(folder, '.git'), { recursive: true })
  writeFileSync(join(folder, '.git/config'), '')
  writeFileSync(join(folder, '.env.production'), 'MAYFLY_SECRET=of-production\n')
}

const HOST = 'shop.onrender.com'

function ask(
  port: number,
  path: string,
  host: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers,
    })
    asked.on('error', reject).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('close', () => resolve({ status: response.statusCode!, text }))
    })
    asked.end(body)
  })
}

const ROLL =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"roll_dice","arguments":{"count":2}}}'

/** Starts it with the variables of a platform, asks, and ends it as each platform does. */
async function runAs({ folder, env, command }: Image, variables: { readonly [name: string]: string }) {
  const port = await testPort()
  const child = spawn(process.execPath, command.slice(1), {
    cwd: folder,
    env: {
      ...env,
      MAYFLY_ALLOWED_HOSTS: HOST,
      MAYFLY_SECRET: secretOf('s'),
      PORT: String(port),
      ...variables,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 60_000 }).toContain('listening on')
  const health = await Promise.all(
    [HOST, 'healthcheck.railway.app', `127.0.0.1:${port}`].map((host) => ask(port, '/healthz', host)),
  )
  const rolled = await ask(port, '/mcp', HOST, ROLL)
  const other = await ask(port, '/mcp', 'other.example', ROLL)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  return { health: health.map(({ status }) => status), rolled: rolled.text, other: other.status }
}

describe.each([
  ['npm', 'package-lock.json', ['npm ci']],
  [
    'pnpm',
    'pnpm-lock.yaml',
    ['corepack enable', 'pnpm install --frozen-lockfile --config.strict-dep-builds=false'],
  ],
  ['yarn', 'yarn.lock', ['corepack enable', 'yarn install --frozen-lockfile']],
] as const)('the container with %s', { timeout: 180_000 }, (_manager, lockfile, asked) => {
  test.each([
    ['a project', '.'],
    ['a package of a workspace', 'packages/shop'],
  ])('of %s builds with the locked packages, without secrets, and serves', async (_what, at) => {
    const context = temporary()
    writeProject(context, lockfile, at)
    expect(existsSync(join(context, at, '.env'))).toBe(true)

    const dockerfile = readFileSync(join(context, at, 'Dockerfile'), 'utf8')
    const image = buildImage(context, dockerfile, at === '.' ? {} : { PACKAGE: at })

    expect(image.installed).toEqual(asked)
    expect(image.source.filter((file) => /(?:^|\/)\.(?:env|git)(?:$|\/|\.(?!ignore))/.test(file))).toEqual([])
    expect(image.command).toEqual(['node', 'server.mjs'])
    const files = readdirSync(image.folder).filter((name) => !/-[A-Z\d]{8}\.mjs(?:\.map)?$/.test(name))
    expect(files.sort()).toEqual(['.mayfly-build', 'server.mjs', 'server.mjs.map'])
    expect(image.env).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8080' })
    const seen = await runAs(image, {})
    expect(seen).toEqual({
      health: [200, 200, 200],
      rolled: expect.stringContaining('"total"'),
      other: 403,
    })
  })
})

test('with tasks one machine of Fly always runs; without, none has to', () => {
  const flyOf = (hasTasks: boolean): string =>
    findTarget('node').files({ name: 'shop', hasTasks }).files['fly.toml'] ?? ''
  expect(flyOf(true)).toMatch(/billed[\s\S]*auto_stop_machines = "off"\n[\s\S]*min_machines_running = 1\n/)
  expect(flyOf(false)).toMatch(/auto_stop_machines = "stop"\n[\s\S]*min_machines_running = 0\n/)
})
