/** The deployment package: a bundle in one zip, with identical bytes for the same server. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { FACTS, sizeLimit } from '../../contract/facts.ts'
import type { Artefact, Project } from '../../contract/target.ts'
import { type Cron, cronCall, cronsOf } from '../../project/cron.ts'
import { makesTable } from '../../project/project.ts'
import { KEYED_TABLES, type KeyedTable } from './keyed-template.ts'
import { SECRETS_TEMPLATE, template } from './template.ts'

export const ZIP = 'function.zip'
export const TEMPLATE_FILE = 'template.yaml'
export const SECRETS_TEMPLATE_FILE = 'secrets.yaml'

/** SAM uploads through S3, so the size limit of a direct upload does not apply. */
const LIMITS: Artefact['limits'] = [sizeLimit(FACTS.lambda.unzippedBytes, 'raw')]

const main = (crons: readonly Cron[], hasTasks: boolean): string => `import server from 'mayfly:entry'
import { lambda, streamingLambda } from 'mayfly-mcp/lambda'
${hasTasks ? `import * as exported from 'mayfly:exports'\n` : ''}
export const handler = lambda(server)
export const streamingHandler = streamingLambda(server)
${hasTasks ? QUEUE : ''}${crons.length === 0 ? '' : `export const cronHandler = ${cronCall(crons, { fetch: CALL })}\n`}`

/** At the top of each file, since the server may read its secrets while it loads: whichever runs first puts them into the environment. */
const READ_SECRETS =
  'if(process.env.MAYFLY_SECRETS){const secrets=JSON.parse(process.env.MAYFLY_SECRETS);delete process.env.MAYFLY_SECRETS;Object.assign(process.env,secrets)}'

const QUEUE = `export const queueHandler = exported.queue ?? (() => {
  throw new Error('the entry has no export "queue": export const queue = runner.handler, see docs/tasks-runners.md')
})
`

/** Passes the remaining time of this call. */
const CALL = `(request) =>
    server.handle?.(request, { env: process.env, deadline: Date.now() + context.getRemainingTimeInMillis() }) ??
    server.fetch(request, process.env)`

/** `"mayfly": { "tasks": "dynamodb" }` in package.json: the deployment creates a table and a queue for tasks. */
export function keepsTasks(project: Pick<Project, 'cwd' | 'entry'>): boolean {
  return makesTable(project, 'tasks')
}

/**
 * `"mayfly": { "grants": "dynamodb" }` in package.json: the deployment creates a table for the connections of people who sign in; `"events":
 * "dynamodb"`: one for MCP Events.
 */
export function keyedTablesOf(project: Pick<Project, 'cwd' | 'entry'>): readonly KeyedTable[] {
  return KEYED_TABLES.filter((table) => makesTable(project, table))
}

/** A regular file that all users can read: Lambda's user is not its owner. */
const FILE_MODE = 0o100644

export async function buildPackage(project: Project, outDir: string): Promise<Artefact> {
  const outfile = join(outDir, 'index.mjs')
  const crons = cronsOf(project)
  const hasTasks = keepsTasks(project)
  const { size, files } = await bundleServer(project, {
    main: main(crons, hasTasks),
    outfile,
    platform: 'node',
    banner: NODE_BANNER + READ_SECRETS,
    isSplit: true,
  })
  // The earliest date of the zip format, in local time as the format requires, so that the bytes are the same in every time zone.
  const mtime = new Date(1980, 0, 1)
  const options = { level: 9, mtime, os: 3, attrs: (FILE_MODE << 16) >>> 0 } as const
  const zipped = zipSync(
    Object.fromEntries(files.map((name) => [name, [readFileSync(join(outDir, name)), options] as const])),
  )
  for (const name of files) rmSync(join(outDir, name))
  writeFileSync(join(outDir, ZIP), zipped)
  writeFileSync(join(outDir, TEMPLATE_FILE), template({ crons, hasTasks, tables: keyedTablesOf(project) }))
  writeFileSync(join(outDir, SECRETS_TEMPLATE_FILE), SECRETS_TEMPLATE)
  return { main: ZIP, size: { raw: size.raw, gzip: zipped.byteLength }, limits: LIMITS }
}
