/** The Runtime API of a local Lambda function: only the function's own process gets its calls. */
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEnvironment } from '../../deploy/targets/lambda/environment.ts'
import { type RuntimeApi, startRuntimeApi } from '../../deploy/targets/lambda/runtime-api.ts'
import { Project } from './_dev-process.ts'

const PREFIX = '/2018-06-01/runtime'
const EVENT = '{"headers":{"authorization":"Bearer of-ann"}}'

let api: RuntimeApi
let host: string
let secret: string
beforeEach(async () => {
  api = await startRuntimeApi({ hasSecret: true })
  ;[host = '', secret = ''] = api.address.split('/')
})
afterEach(() => api.close())

interface Reply {
  readonly status: number
  readonly id: string
  readonly body: string
}

/** Any header may be sent, `Host` too. */
function ask(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: host.split(':')[1], path, method, headers },
      (response) => {
        const id = String(response.headers['lambda-runtime-aws-request-id'])
        text(response).then((got) => resolve({ status: response.statusCode ?? 0, id, body: got }), reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const invoke = () => api.invoke(EVENT, 60_000, () => {})

test('the address has 256 bits of secret after the port', () => {
  expect(host).toMatch(/^127\.0\.0\.1:\d+$/)
  expect(secret).toMatch(/^[\w-]{43}$/)
})

test('the next call without the secret, from a page or under another name → 403, and the call is kept', async () => {
  invoke()
  const refused: [string, Record<string, string>][] = [
    [`${PREFIX}/invocation/next`, {}],
    [`/${secret.slice(0, -1)}x-${PREFIX}/invocation/next`, {}],
    [`/${secret}${PREFIX}/invocation/next`, { origin: 'https://evil.example' }],
    [`/${secret}${PREFIX}/invocation/next`, { origin: 'null' }],
    [`/${secret}${PREFIX}/invocation/next`, { host: 'evil.example' }],
  ]
  for (const [path, headers] of refused) {
    const { status, body } = await ask('GET', path, headers)
    expect([path, [403, 404].includes(status), body.includes('of-ann')]).toEqual([path, true, false])
  }
  const { status, body } = await ask('GET', `/${secret}${PREFIX}/invocation/next`)
  expect([status, body]).toEqual([200, EVENT])
})

test('a second request for the next call → 409, and the first gets it', async () => {
  const first = ask('GET', `/${secret}${PREFIX}/invocation/next`)
  await api.loaded
  expect((await ask('GET', `/${secret}${PREFIX}/invocation/next`)).status).toBe(409)
  invoke()
  expect(await first).toMatchObject({ status: 200, body: EVENT })
})

test('an answer or an error needs the secret and the id of its call', async () => {
  const { answer } = invoke()
  const { id } = await ask('GET', `/${secret}${PREFIX}/invocation/next`)
  const body = '{"errorType":"forged"}'
  expect((await ask('POST', `${PREFIX}/init/error`, {}, body)).status).toBe(403)
  for (const what of ['response', 'error']) {
    expect((await ask('POST', `${PREFIX}/invocation/${id}/${what}`, {}, body)).status).toBe(403)
    expect((await ask('POST', `/${secret}${PREFIX}/invocation/x/${what}`, {}, body)).status).toBe(400)
  }
  expect((await ask('POST', `/${secret}${PREFIX}/invocation/${id}/response`, {}, '"own"')).status).toBe(202)
  expect(await answer).toEqual({ kind: 'whole', payload: Buffer.from('"own"') })
})

describe.skipIf(process.platform !== 'linux' || process.geteuid?.() !== 0)('without a secret', () => {
  const OTHER_USER = 54321
  const GET = 'console.log((await fetch(process.argv[1])).status)'

  test.each([
    [OTHER_USER, '403'],
    [0, '200'],
  ])('a process of user %i → %s', async (uid, status) => {
    const open = await startRuntimeApi({ hasSecret: false })
    open.invoke(EVENT, 60_000, () => {})
    const args = ['--input-type=module', '-e', GET, `http://${open.address}${PREFIX}/invocation/next`]
    // A copy: the program may be in a folder that the other user cannot read.
    await using project = new Project()
    const node = join(project.folder, 'node')
    copyFileSync(process.execPath, node)
    chmodSync(project.folder, 0o755)
    const { stdout } = await promisify(execFile)(node, args, { uid, cwd: '/', env: {} })
    expect(stdout.trim()).toBe(status)
    await open.close()
  })
})

describe('the address that a runtime client gets', () => {
  const OWN = fileURLToPath(new URL('../../deploy/targets/lambda/runtime-client.ts', import.meta.url))
  const HANDLER = `import { writeFileSync } from 'node:fs'
writeFileSync('address', process.env.AWS_LAMBDA_RUNTIME_API)
export const handler = async () => ({})
`

  test.each([
    [
      'our own client, by another name',
      'bootstrap.mjs',
      (path: string) => symlinkSync(OWN, path),
      /^[\d.:]+\/[\w-]{43}$/,
    ],
    [
      'another client with the name of ours',
      'runtime-client.js',
      (path: string) => writeFileSync(path, HANDLER),
      /^127\.0\.0\.1:\d+$/,
    ],
  ])('%s', async (_what, name, write, address) => {
    await using project = new Project()
    project.write('package.json', '{ "type": "module" }')
    project.write('index.mjs', HANDLER)
    const ric = join(project.folder, name)
    write(ric)
    const environment = await startEnvironment({
      ric,
      taskRoot: project.folder,
      handler: 'index.handler',
      timeoutMs: 10_000,
      env: process.env,
    })
    await environment.loaded.catch(() => {})
    await environment.stop()
    expect(readFileSync(join(project.folder, 'address'), 'utf8')).toMatch(address)
  })
})
