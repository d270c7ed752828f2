/** `mayfly dev` while it loads a server to see what it is. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { areAlive, MayflyProcess, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const SERVER = `export default {
  fetch: async () => Response.json({ jsonrpc: '2.0', id: 1, result: {} }),
}
`

test('a server that starts a program as it loads is not waited for, and the program ends', async () => {
  await using project = new Project()
  project.write(
    'server.ts',
    `import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
const { pid } = spawn('sleep', ['300'], { stdio: 'inherit' })
appendFileSync('pids.txt', pid + '\\n')
${SERVER}`,
  )
  const args = ['dev', '--target', 'node', '--port', String(await testPort())]
  await using mayfly = new MayflyProcess(args, project.folder)
  const file = join(project.folder, 'pids.txt')
  await until(() => existsSync(file))
  const start = Date.now()
  await mayfly.ready()
  // It would be given up 15 seconds after it was started.
  expect(Date.now() - start).toBeLessThan(12_000)
  expect((await mayfly.signal('SIGTERM')).code).toBe(0)
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
  expect(pids.length).toBe(2)
  await until(() => !areAlive(pids))
})

test('SIGINT while a server hangs as it loads → it ends at once', async () => {
  await using project = new Project()
  project.write(
    'server.ts',
    `import { writeFileSync } from 'node:fs'
writeFileSync('pid.txt', String(process.pid))
await new Promise((resolve) => setTimeout(resolve, 3_600_000))
${SERVER}`,
  )
  await using mayfly = new MayflyProcess(['dev', '--target', 'node', '--port', '0'], project.folder)
  const file = join(project.folder, 'pid.txt')
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '')
  const pid = Number(readFileSync(file, 'utf8'))
  const start = Date.now()
  expect((await mayfly.signal('SIGINT')).code).toBe(0)
  expect(Date.now() - start).toBeLessThan(5000)
  await until(() => !areAlive([pid]))
})

test('what is thrown as a server loads is one line, whatever it is called', async () => {
  await using project = new Project()
  project.write(
    'server.ts',
    `class Problem extends Error { name = 'Problem' }\nthrow new Problem('no database')\n${SERVER}`,
  )
  const mayfly = new MayflyProcess(['dev', '--target', 'node', '--port', '0'], project.folder)
  const { code, stderr } = await mayfly.exited
  expect(stderr).toBe('mayfly: server.ts cannot be loaded: Error: Problem: no database (server.ts:2:7)\n')
  expect(code).toBe(1)
})
