/** The examples, in two processes that `mayfly dev` starts on a platform's runtime, over real servers: a change on one is heard on the other. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { CLIENTS, connectV2, MODERN } from '../../contract/clients.ts'
import { type BusServer, startNatsServer, startPostgresServer, startRedisServer } from './_servers.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const SERVERS: { readonly [name: string]: readonly [setting: string, start: () => Promise<BusServer>] } = {
  redis: ['REDIS_URL', startRedisServer],
  postgres: ['DATABASE_URL', startPostgresServer],
  nats: ['NATS_URL', startNatsServer],
}

it.each([
  ['redis', 'node'],
  ['postgres', 'node'],
  ['nats', 'node'],
  ['redis', 'deno'],
  ['postgres', 'bun'],
  ['postgres', 'supabase'],
])('examples/notifications/%s.ts, in two processes on %s [bus.delivery]', async (name, target) => {
  const [setting, start] = SERVERS[name]!
  const server = await start()
  const processes: Dev[] = []
  try {
    for (let one = 0; one < 2; one++)
      processes.push(await serveExample(name, target, { [setting]: server.url }))
    const [here, there] = processes as [Dev, Dev]
    await using listener = await connectV2({ pin: MODERN }, there.url)
    await using publisher = await CLIENTS[0]!.connect(here.url)
    const heard: string[] = []
    const { client } = listener
    const hear = (uri: string) => void heard.push(uri)
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(params.uri))
    client.setNotificationHandler('notifications/tools/list_changed', () => hear('tools'))
    const filter = { toolsListChanged: true, resourceSubscriptions: ['note://today'] }

    const { honoredFilter } = await client.listen(filter)
    await publisher.call('touch')

    expect(honoredFilter).toEqual(filter)
    await eventually(() => expect(heard).toEqual(['note://today', 'tools']))
  } finally {
    for (const { stop } of processes) await stop()
    await server.stop()
  }
})

interface Dev {
  readonly url: URL
  stop(): Promise<void>
}

async function serveExample(
  name: string,
  target: string,
  env: { readonly [name: string]: string },
): Promise<Dev> {
  const args = [
    `${ROOT}dist/deploy/cli.js`,
    'dev',
    `examples/notifications/${name}.ts`,
    '--target',
    target,
    '--port',
    String(await testPort()),
  ]
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } })
  const closed = once(child, 'close')
  let said = ''
  const url = await new Promise<URL>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        const ready = /^ready (\S+)$/m.exec(said)
        if (ready !== null) resolve(new URL(ready[1]!))
      })
    }
    void closed.then(() => reject(new Error(`mayfly dev stopped:\n${said}`)))
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await closed
    },
  }
}
