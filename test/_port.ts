/**
 * Ports for servers that are told theirs and need seconds to listen on it.
 *
 * A port the kernel hands out may be handed out again in those seconds, and a test would then talk to another test's
 * server. These are below the ephemeral range, and a file claims each for the process that was given it, so that none comes
 * twice: not to another worker, nor to another run of the tests on this machine.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../deploy/run/port.ts'

const FIRST = 12_000
const PORTS = 18_000

const CLAIMS = join(tmpdir(), 'mayfly-test-ports')
const claimed: string[] = []

let next = Math.floor(Math.random() * PORTS)

/** A port of 127.0.0.1 that no other test on this machine gets while this process lives. */
export async function testPort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    const port = FIRST + (next++ % PORTS)
    if (!claim(port)) continue
    const isFree = await freePort(port).then(
      () => true,
      () => false,
    )
    if (isFree) return port
  }
  throw new Error(`every port from ${FIRST} on is taken`)
}

function claim(port: number): boolean {
  mkdirSync(CLAIMS, { recursive: true })
  const file = join(CLAIMS, String(port))
  if (!isMine(file)) return false
  if (claimed.length === 0) process.on('exit', release)
  claimed.push(file)
  return true
}

function release(): void {
  for (const path of claimed) rmSync(path, { force: true })
}

/** A claim of a process that has ended is void. */
function isMine(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (isAlive(Number(readFileSync(file, 'utf8').trim() || process.pid))) return false
    rmSync(file, { force: true })
    return isMine(file)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
