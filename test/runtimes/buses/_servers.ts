/** A real Postgres and a real NATS of Debian's packages, on free ports of 127.0.0.1. Redis is in `../node/_processes.ts`. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testPort } from '../../_port.ts'
import { startRedis } from '../node/_processes.ts'

/** A server that can crash, and be started again on its port with its data. */
export interface BusServer {
  readonly url: string
  /** As a crash: nothing is said to its clients. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startRedisServer(): Promise<BusServer> {
  let running = await startRedis()
  const { href: url, port } = running.url
  return {
    url,
    kill: () => end(running.child, 'SIGKILL'),
    async start() {
      running = await startRedis(Number(port))
    },
    stop: () => running.stop(),
  }
}

/** @param config of the server, in its own language. */
export async function startNatsServer(config?: string): Promise<BusServer> {
  const port = await testPort()
  const command = existsSync('/usr/sbin/nats-server') ? '/usr/sbin/nats-server' : 'nats-server'
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-nats-'))
  writeFileSync(join(folder, 'nats.conf'), config ?? '')
  const options = ['-c', join(folder, 'nats.conf'), '-a', '127.0.0.1', '-p', String(port)]
  const begin = () => begun(spawn(command, options), /Server is ready/, 'nats-server')
  let child = await begin()
  return {
    url: `nats://127.0.0.1:${port}`,
    kill: () => end(child, 'SIGKILL'),
    async start() {
      child = await begin()
    },
    async stop() {
      await end(child, 'SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function startPostgresServer(): Promise<BusServer> {
  const port = await testPort()
  const bin = postgresBinaries()
  const user = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-postgres-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', 'mayfly', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(bin, 'initdb'), init, { ...user, cwd: folder, stdio: 'ignore' })
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, fsync: 'off' }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const begin = () => {
    const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...options], {
      ...user,
      cwd: folder,
    })
    return begun(child, /ready to accept connections/, 'postgresql')
  }
  let child = await begin()
  return {
    url: `postgres://mayfly@127.0.0.1:${port}/postgres`,
    // Its "immediate shutdown": every process of it ends at once, as after a crash.
    kill: () => end(child, 'SIGQUIT'),
    async start() {
      child = await begin()
    },
    async stop() {
      await end(child, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Postgres refuses to run as root. */
function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function postgresBinaries(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(a) - Number(b)) : []
  const found = versions
    .map((version) => join(root, version, 'bin'))
    .filter((bin) => existsSync(join(bin, 'initdb')))
  if (found.length === 0) throw new Error('postgresql is missing: apt-get install -y postgresql')
  return found.at(-1)!
}

/** Resolves when a server says that it is ready. */
async function begun(child: ChildProcess, ready: RegExp, what: string): Promise<ChildProcess> {
  let said = ''
  await new Promise<void>((resolve, fail) => {
    child.once('error', () => fail(new Error(`${what} is missing: apt-get install -y ${what}`)))
    child.once('exit', (code) => fail(new Error(`${what} ended with ${code}:\n${said}`)))
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (ready.test(said)) resolve()
      })
    }
  })
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
