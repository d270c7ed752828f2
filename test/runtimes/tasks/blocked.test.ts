/** A step that blocks its process for longer than the lease, in two real processes over a real Redis. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startRedisServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

const PROCESS = fileURLToPath(new URL('./_process.ts', import.meta.url))

it('a step of four leases that blocks its process → it begins a few times, and the task ends [tasks.leases]', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-blocked-'))
  const log = join(folder, 'steps')
  const store = await startRedisServer()
  const children = [0, 1].map(() =>
    spawn(process.execPath, [PROCESS, 'redis', store.url, log], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  try {
    const lines = await Promise.all(
      children.map(({ stdout }) => once(createInterface(stdout), 'line') as Promise<[string]>),
    )
    const wire = new TaskWire(lines[0]![0])
    const { taskId } = await wire.call('block', { ms: 3200 })
    const task = await wire.until(taskId, 'completed', 60_000)
    expect(task.result!.content[0]!.text).toBe('blocked')
    const begun = readFileSync(log, 'utf8').trim().split('\n')
    expect(begun.length).toBeLessThanOrEqual(4)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await store.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
