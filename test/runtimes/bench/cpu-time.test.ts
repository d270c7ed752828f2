/** The processor's time that the benchmarks read of a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { cpuMicrosecondsOf } from '../../../bench/runtimes/load.ts'

const THREAD = `
  const { parentPort } = require('node:worker_threads')
  const end = performance.now() + 100
  while (performance.now() < end);
  parentPort.once('message', () => process.exit())
  parentPort.postMessage('ran')`

const PROCESS = `
  const { Worker } = require('node:worker_threads')
  const thread = new Worker(${JSON.stringify(THREAD)}, { eval: true })
  const say = (word) => process.stdout.write(word)
  thread.on('message', () => say('ran')).on('exit', () => say('ended'))
  process.stdin.on('data', () => thread.postMessage('end'))`

it.runIf(process.platform === 'linux')(
  'of a process still has what a thread ran that has ended',
  async () => {
    const child = spawn(process.execPath, ['-e', PROCESS], { stdio: ['pipe', 'pipe', 'inherit'] })
    try {
      expect(String((await once(child.stdout, 'data'))[0])).toBe('ran')
      const before = cpuMicrosecondsOf(child.pid!)
      child.stdin.write('end')
      expect(String((await once(child.stdout, 'data'))[0])).toBe('ended')
      expect(cpuMicrosecondsOf(child.pid!)).toBeGreaterThanOrEqual(before)
    } finally {
      child.kill('SIGKILL')
    }
  },
)
