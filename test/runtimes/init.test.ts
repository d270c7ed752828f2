/** What `mayfly init` writes for each platform, with the packed package installed: it type-checks, its tests pass, it runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { isEveryTarget, someTargets } from '../_some-targets.ts'
import { CLIENTS } from '../contract/clients.ts'
import { newProject } from '../package/_new-project.ts'
import { type PackedPackage, run, unpackPackage } from '../package/_packed.ts'

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = unpackPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-init-'))
})
afterAll(() => {
  packed?.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe.each(someTargets(targets.keys()))('mayfly init --target %s', (target) => {
  it.each(target === 'node' && !isEveryTarget ? [''] : ['', '--with hono'])(
    '%s: type-checks, passes its tests, builds, and serves official clients',
    async (template) => {
      const cli = join(packed.installed, 'dist/deploy/cli.js')
      const name = target + template.replace('--with ', '-')
      const options = ['--target', target, ...template.split(' ').filter(Boolean)]
      const project = newProject(packed.installed, folder, name, options)

      run('node_modules/.bin/tsc', [], project)
      // With Hono, the tests and the build are those of package/init-templates and of the other project.
      if (template === '') {
        run('node_modules/.bin/vitest', ['run'], project)
        run(process.execPath, [cli, 'build', '--target', target], project)
      }

      const server = spawn(process.execPath, [cli, 'dev', '--target', target, '--port', '0'], {
        cwd: project,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      try {
        const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
        const url = new URL(/^ready (\S+)\n$/.exec(line)?.[1] ?? line)
        for (const { connect } of [CLIENTS[0]!, CLIENTS[2]!]) {
          await using connection = await connect(url)
          expect(await connection.call('roll_dice', { count: 2 })).toMatchObject({
            structuredContent: { rolls: [expect.any(Number), expect.any(Number)] },
          })
        }
        if (template !== '') {
          const hello = await fetch(new URL('hello', url))
          expect(await hello.text()).toContain('dice')
        }
      } finally {
        const ended = once(server, 'exit')
        server.kill('SIGTERM')
        await ended
      }
    },
  )
})
