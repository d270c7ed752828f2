/**
 * Runs a deployment package behind a local HTTP trigger, for `mayfly preview --target lambda`.
 *
 * `node local.ts <function.zip> --ric <file> --port <n> [--trigger function-url] [--handler index.handler] [--timeout 60] [--dynalite
 * <file>] [--grants] [--events]`
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { unzipSync } from 'fflate'
import { textOf } from '../../../src/definition/error-text.ts'
import { createTempFolder } from '../../build/work-folder.ts'
import { DRAIN_MS } from '../../run/drain.ts'
import { createEnvironments } from './environments.ts'
import { TRIGGERS, type Trigger } from './events.ts'
import { startGateway } from './gateway.ts'
import { KEYED_TABLES } from './keyed-template.ts'
import { startLocalTable } from './local-table.ts'
import { startLocalTables } from './local-tables.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ric: { type: 'string' },
    port: { type: 'string' },
    trigger: { type: 'string', default: 'function-url' },
    handler: { type: 'string', default: 'index.streamingHandler' },
    timeout: { type: 'string', default: '60' },
    stage: { type: 'string' },
    dynalite: { type: 'string' },
    grants: { type: 'boolean' },
    events: { type: 'boolean' },
  },
})
const [zip] = positionals
const trigger = TRIGGERS.find((name) => name === values.trigger)
if (zip === undefined || values.ric === undefined || trigger === undefined)
  throw new TypeError(`local.ts <function.zip> --ric <file> --port <n> [--trigger ${TRIGGERS.join('|')}]`)

const taskRoot = unpack(zip)
const environments = createEnvironments({
  ric: values.ric,
  taskRoot,
  handler: values.handler,
  timeoutMs: Number(values.timeout) * 1000,
  env: { ...process.env, ...(await localTables()) },
})
try {
  await environments.warm()
} catch (error) {
  process.stderr.write(`\n${textOf(error)}\n`)
  await environments.stop()
  process.exit(1)
}
const gateway = await startGateway(environments, {
  trigger: trigger satisfies Trigger,
  port: Number(values.port),
  ...(values.stage !== undefined && { stage: values.stage }),
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await gateway.close(DRAIN_MS)
    await environments.stop()
    process.exit(0)
  })
}

/** Execution environments do not share memory. Variables that direct AWS's client to the tables. */
async function localTables(): Promise<{ readonly [name: string]: string }> {
  const tasks = values.dynalite === undefined ? undefined : await startLocalTable(values.dynalite)
  const names = KEYED_TABLES.filter((table) => values[table])
  const others = names.length > 0 ? await startLocalTables(names, tasks?.AWS_ENDPOINT_URL_DYNAMODB) : {}
  return { ...tasks, ...others }
}

/** The folder is removed when this process ends. */
function unpack(file: string): string {
  const { folder } = createTempFolder()
  for (const [name, content] of Object.entries(unzipSync(readFileSync(file)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}
