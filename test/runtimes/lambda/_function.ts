/** The fixture's deployment package, behind a trigger of its own: real processes of AWS's runtime interface client. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { buildInto } from '../../../deploy/targets/build-into.ts'
import { createEnvironments, type Environments } from '../../../deploy/targets/lambda/environments.ts'
import type { Trigger } from '../../../deploy/targets/lambda/events.ts'
import { startGateway } from '../../../deploy/targets/lambda/gateway.ts'
import { ZIP } from '../../../deploy/targets/lambda/package.ts'
import { lambda, runtimeClient } from '../../../deploy/targets/lambda/target.ts'

/** The project of these tests: where the runtime interface client is installed. */
export const CWD = join(import.meta.dirname, 'ric')

export interface FunctionOptions {
  readonly trigger: Trigger
  /** Default `index.handler`, which answers whole. */
  readonly handler?: string
  readonly stage?: string
  /** Default: a free one. */
  readonly port?: number
  /** Default 20 000. */
  readonly timeoutMs?: number
  /** How many processes at most. Default 1. */
  readonly max?: number
  readonly env?: { readonly [name: string]: string }
  /** The file of a runtime interface client. Default AWS's. */
  readonly ric?: string
}

export interface RunningFunction extends AsyncDisposable {
  /** Without the stage. */
  readonly origin: URL
  /** Of the MCP endpoint. */
  readonly url: URL
  readonly environments: Environments
}

export interface Built extends Disposable {
  start(options: FunctionOptions): Promise<RunningFunction>
  /** A path in a folder that goes with the test. */
  file(name: string): string
}

/** Builds an entry as `mayfly build --target lambda` does. */
export async function buildFunction(entry: string): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-lambda-test-'))
  const outDir = join(folder, 'out')
  const taskRoot = join(folder, 'task')
  const project = { cwd: CWD, entry: join(import.meta.dirname, entry), name: 'fixture' }
  await buildInto(lambda, project, outDir)
  mkdirSync(taskRoot)
  for (const [name, content] of Object.entries(unzipSync(readFileSync(join(outDir, ZIP)))))
    writeFileSync(join(taskRoot, name), content)
  return {
    file: (name) => join(folder, name),
    start: async (options) => {
      const {
        trigger,
        handler = 'index.handler',
        stage,
        timeoutMs = 20_000,
        max = 1,
        env = {},
        port = 0,
      } = options
      const ric = options.ric ?? runtimeClient(CWD)
      const environments = createEnvironments(
        { ric, taskRoot, handler, timeoutMs, env: { ...process.env, ...env } },
        max,
      )
      const gateway = await startGateway(environments, {
        trigger,
        port,
        ...(stage !== undefined && { stage }),
      })
      const origin = new URL(`http://127.0.0.1:${gateway.port}`)
      const prefix = stage ?? (trigger === 'rest-api' ? 'prod' : '')
      return {
        origin,
        url: new URL(`${prefix === '' ? '' : `/${prefix}`}/mcp`, origin),
        environments,
        [Symbol.asyncDispose]: async () => {
          await gateway.close()
          await environments.stop()
        },
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
