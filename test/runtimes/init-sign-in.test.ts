/** What `mayfly init --with sign-in` writes for each platform: it type-checks, its tests pass, it builds, and people sign in without an account. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantsOf } from '../../deploy/contract/abilities.ts'
import { targets } from '../../deploy/targets/all.ts'
import { newProject } from '../package/_new-project.ts'
import { type PackedPackage, run, unpackPackage } from '../package/_packed.ts'
import { tokenOf } from './_stand-in.ts'

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = unpackPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-sign-in-'))
})
afterAll(() => {
  packed?.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const ABLE = [...targets].filter(([, { tasks }]) => grantsOf(tasks) !== undefined).map(([name]) => name)

const cli = (): string => join(packed.installed, 'dist/deploy/cli.js')

describe.each(ABLE)('mayfly init --target %s --with sign-in', (target) => {
  it('type-checks, passes its tests, builds, and asks who somebody is', async () => {
    const project = newProject(packed.installed, folder, target, ['--target', target, '--with', 'sign-in'])

    run('node_modules/.bin/tsc', [], project)
    expect(run('node_modules/.bin/vitest', ['run'], project)).toMatch(/Tests {2}5 passed/)
    run(process.execPath, [cli(), 'build', '--target', target], project)

    const server = spawn(process.execPath, [cli(), 'dev', '--target', target, '--port', '0'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(server, 'exit')
    const said = text(server.stderr)
    try {
      const [line] = (await Promise.race([
        once(server.stdout.setEncoding('utf8'), 'data'),
        ended.then(async () => Promise.reject(new Error(await said))),
      ])) as [string]
      const url = new URL(/^ready (\S+)\n$/.exec(line)?.[1] ?? line)
      const token = await tokenOf(url, { name: 'Ada', email: 'ada@example.com' })
      expect(await callAs(token, url)).toContain('You are Ada')
    } finally {
      server.kill('SIGTERM')
      await ended
    }
    expect(await said).toContain(
      'a stand-in asks who somebody is, and believes the answer: set GOOGLE_ID and GOOGLE_SECRET in .env to use Google',
    )
  })
})

it.each(['hono', 'asking', 'tasks', 'fromSdk'])(
  'with %s, too, it type-checks and passes its tests',
  (other) => {
    for (const target of other === 'tasks' ? ['node', 'cloudflare', 'lambda'] : ['cloudflare']) {
      const options = ['--target', target, '--with', 'sign-in', '--with', other]
      const project = newProject(packed.installed, folder, `${target}-${other.toLowerCase()}`, options)
      run('node_modules/.bin/tsc', [], project)
      run('node_modules/.bin/vitest', ['run'], project)
      run(process.execPath, [cli(), 'build', '--target', target], project)
      const names = readFileSync(join(project, '.env'), 'utf8').match(/^\w+(?==)/gm) ?? []
      expect(new Set(names).size).toBe(names.length)
    }
  },
)

it('two clients of the same person on Lambda at once → both are known in every process', async () => {
  const project = newProject(packed.installed, folder, 'at-once', ['--target', 'lambda', '--with', 'sign-in'])
  const server = spawn(process.execPath, [cli(), 'dev', '--port', '0'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(server, 'exit')
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
    const url = new URL(/^ready (\S+)\n$/.exec(line)?.[1] ?? line)
    const token = await tokenOf(url, { name: 'Ada', email: 'ada@example.com' })
    const answers = await Promise.all(Array.from({ length: 4 }, () => callAs(token, url)))
    for (const answer of answers) expect(answer).toContain('You are Ada')
  } finally {
    server.kill('SIGTERM')
    await ended
  }
})

async function callAs(token: string, url: URL): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'who_am_i', arguments: {} },
    }),
  })
  return response.text()
}
