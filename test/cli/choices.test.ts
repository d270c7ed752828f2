/** What the commands take where nothing is said, and when they are coloured: docs/cli.md. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findEntry } from '../../deploy/project/entry.ts'
import { targets } from '../../deploy/targets/all.ts'
import { listen } from './_check-servers.ts'
import { Project } from './_dev-process.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))

test('the entry is the first that exists of src/server.ts, server.ts, src/index.ts', async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'src'))
  for (const path of ['src/index.ts', 'server.ts', 'src/server.ts']) {
    project.write(path, '')
    expect(findEntry(project.folder, undefined)).toBe(join(project.folder, path))
  }
})

test('the port is 8787 for cloudflare, and 3000 for most others', () => {
  const ports = [...targets].map(([name, { defaultPort }]) => [name, defaultPort] as const)
  const others = ports.filter(([name]) => name !== 'cloudflare')
  expect(ports).toContainEqual(['cloudflare', 8787])
  expect(others.filter(([, port]) => port === 3000).length).toBeGreaterThan(others.length / 2)
})

describe('on a terminal', () => {
  /** script(1) gives it a terminal. */
  async function shown(args: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
    const child = spawn('script', ['-qec', `${process.execPath} ${CLI} ${args}`, '/dev/null'], {
      cwd,
      // In CI Node takes no terminal for a coloured one.
      env: {
        ...process.env,
        CI: undefined,
        NO_COLOR: undefined,
        FORCE_COLOR: undefined,
        TERM: 'xterm',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(child, 'close')
    return output
  }

  test.for([
    ['in colour', {}, true],
    ['with NO_COLOR plainly', { NO_COLOR: '1' }, false],
    // https://no-color.org: "when present and not an empty string".
    ['with an empty NO_COLOR in colour', { NO_COLOR: '' }, true],
  ] as const)('doctor and check speak %s', { timeout: 180_000 }, async ([, env, isColoured]) => {
    await using project = new Project()
    project.write('server.ts', `export default { fetch: () => new Response('') }`)
    await using site = await listen((_request, response) => void response.writeHead(404).end())
    const outputs = [
      await shown('doctor server.ts --target node', project.folder, env),
      await shown(`check ${site.url.href}`, project.folder, env),
    ]
    for (const output of outputs) {
      expect(output.length).toBeGreaterThan(50)
      expect(output.includes('\x1b[')).toBe(isColoured)
    }
  })
})
