/**
 * AWS's own runtime interface client, as on Lambda: one process with one call at a time, which fetches its events from the Runtime
 * API and posts its answers there. This process is that API, so what is measured is the function's process alone.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { startEnvironment } from '../../deploy/targets/lambda/environment.ts'
import { type FunctionResult, fromHead, fromResult, toEvent } from '../../deploy/targets/lambda/events.ts'
import type { Answer } from '../../deploy/targets/lambda/runtime-api.ts'
import { readPrelude } from '../../deploy/targets/lambda/streamed.ts'
import { runtimeClient } from '../../deploy/targets/lambda/target.ts'
import { installPackages } from '../../scripts/install-package.ts'
import { ROOT } from './entry.ts'
import type { Reply, Send } from './load.ts'

/** Where the tests keep it: it compiles for a minute. */
export const LAMBDA_CLIENT = join(ROOT, 'test/runtimes/lambda/ric')

const TIMEOUT_MS = 30_000
const TRIGGER = 'function-url'

/** The environment does not tell the process id, so the function writes it. */
const PID_FILE = 'pid'
const WRITE_PID = `import { writeFileSync as __write } from 'node:fs'; __write(${JSON.stringify(PID_FILE)}, String(process.pid));\n`

export interface LambdaProcess {
  readonly pid: number
  readonly send: Send
  stop(): Promise<void>
}

/** Puts a bundled module, which exports `handler`, and what it loads into a folder as Lambda unpacks it, and returns that folder. */
export async function unpackLambda(bundle: string, parts: readonly string[]): Promise<string> {
  await installPackages([LAMBDA_CLIENT])
  const taskRoot = bundle.replace(/\.mjs$/, '')
  mkdirSync(taskRoot)
  writeFileSync(join(taskRoot, 'index.mjs'), WRITE_PID + readFileSync(bundle, 'utf8'))
  rmSync(bundle)
  for (const part of parts) renameSync(part, join(taskRoot, basename(part)))
  return taskRoot
}

/** Starts a process that serves what was unpacked, as often as it is called. */
export async function startLambda(taskRoot: string, env: NodeJS.ProcessEnv): Promise<LambdaProcess> {
  const output = openSync(join(taskRoot, 'output'), 'w')
  const environment = await startEnvironment({
    ric: runtimeClient(LAMBDA_CLIENT),
    taskRoot,
    handler: 'index.handler',
    timeoutMs: TIMEOUT_MS,
    env,
    output,
  })
  const stop = async (): Promise<void> => {
    await environment.stop()
    closeSync(output)
  }
  try {
    await environment.loaded
  } catch (cause) {
    await stop()
    throw cause
  }
  return {
    pid: Number(readFileSync(join(taskRoot, PID_FILE), 'utf8')),
    send: async ({ url, init }) => {
      const { pathname } = new URL(url)
      const headers = Object.entries(init.headers)
      const body = Buffer.from(init.body)
      const event = toEvent(
        TRIGGER,
        { method: init.method, target: pathname, headers, body, sourceIp: '192.0.2.1' },
        '$default',
      )
      const { answer, over } = environment.invoke(event)
      const reply = await toReply(await answer)
      await over
      return reply
    },
    stop,
  }
}

async function toReply(answer: Answer): Promise<Reply> {
  switch (answer.kind) {
    case 'failed':
      throw new Error(`The function failed: ${answer.type}: ${answer.message}`)
    case 'whole': {
      const result = JSON.parse(answer.payload.toString('utf8')) as FunctionResult
      const { status, headers, body } = fromResult(TRIGGER, result)
      return { status, contentType: contentTypeOf(headers), text: body.toString('utf8') }
    }
    case 'streamed': {
      const { head, rest } = await readPrelude(answer.body, answer.contentType)
      const { status, headers } = fromHead(TRIGGER, head)
      const chunks: Buffer[] = []
      for await (const chunk of rest) chunks.push(chunk)
      return { status, contentType: contentTypeOf(headers), text: Buffer.concat(chunks).toString('utf8') }
    }
  }
}

function contentTypeOf(headers: ReturnType<typeof fromHead>['headers']): string {
  const [, value = ''] = headers.find(([name]) => name.toLowerCase() === 'content-type') ?? []
  return String(value)
}
