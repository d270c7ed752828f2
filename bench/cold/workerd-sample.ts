/** One cold start of workerd: the clock runs from the start of its process to the text of the first answer. */
import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../deploy/run/port.ts'
import { startProcessGroup } from '../../deploy/run/process-group.ts'
import { cpuMicrosecondsOf, createHttpClient, type Reply, type Send } from '../runtimes/load.ts'
import { workerdBinary, workerdConfig } from '../runtimes/workerd.ts'
import { type ColdSample, expectFirstAnswer, type Start } from './start.ts'

const TIMEOUT_MS = 30_000
const RETRY_MS = 1

export async function startWorkerd({ bundle, template }: Start): Promise<ColdSample> {
  const port = await freePort(0)
  const config = bundle.replace(/\.mjs$/, '.capnp')
  writeFileSync(config, workerdConfig(basename(bundle), port))
  const client = createHttpClient(new URL(`http://127.0.0.1:${port}/mcp`), 1)
  const start = performance.now()
  const group = startProcessGroup(
    ['serve', config],
    { stdio: ['ignore', 'ignore', 'inherit'] },
    workerdBinary(),
  )
  try {
    const { status, text } = await firstReply(() => client.send(template), start + TIMEOUT_MS)
    const firstAnswerMs = performance.now() - start
    const cpuMs = cpuMicrosecondsOf(group.child.pid!) / 1000
    expectFirstAnswer(bundle, status, text)
    return { firstAnswerMs, cpuMs }
  } finally {
    client.close()
    await group.kill()
  }
}

/** Asks until somebody listens. */
async function firstReply(send: () => ReturnType<Send>, deadline: number): Promise<Reply> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || performance.now() > deadline)
        throw error
      await delay(RETRY_MS)
    }
  }
}
