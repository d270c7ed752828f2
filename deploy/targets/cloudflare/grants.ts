/** Whether a Worker that keeps the connections of people in a Durable Object has the object: the binding, the migration and the export. */
import { basename } from 'node:path'
import { memberOf } from '../../../src/definition/error-text.ts'
import { ownCode } from '../../build/bundler.ts'
import type { Finding, Project } from '../../contract/target.ts'
import { findWranglerConfig } from './config.ts'
import { readSettings, type Settings } from './place.ts'

const CLASS = 'MayflyGrants'

/** Nothing for a Worker whose own code does not use `durableObjectGrants`. */
export async function grantFindings(project: Project): Promise<Finding[]> {
  const code = await ownCode(project)
  if (!/\bdurableObjectGrants\b/.test(code)) return []
  const path = findWranglerConfig(project.cwd)
  const file = path === undefined ? 'wrangler.toml' : basename(path)
  const name = new RegExp(`\\b${CLASS} as (\\w+)`).exec(exportsIn(code))?.[1] ?? CLASS
  const problems = problemsWith(path === undefined ? {} : readSettings(path), { project, file, code, name })
  if (problems.length === 0)
    return [{ level: 'ok', message: `connections of people are in the Durable Object ${name}` }]
  return problems.map((message) => ({ level: 'error', message: `durableObjectGrants: ${message}` }))
}

interface Names {
  readonly project: Project
  readonly file: string
  readonly code: string
  /** Of the class, as it is exported. */
  readonly name: string
}

function problemsWith(settings: Settings, { project: { stage }, file, code, name }: Names): string[] {
  const section = stage === undefined ? settings : memberOf(memberOf(settings, 'env'), stage)
  const bound = listOf(memberOf(memberOf(section, 'durable_objects'), 'bindings'))
  const isOwn = /\bextends MayflyGrants\b/.test(code)
  const binding = bound.find((one) => isOwn || memberOf(one, 'class_name') === name)
  if (binding === undefined) {
    const where = stage === undefined ? file : `the environment ${stage} of ${file}`
    return [`no binding has the class ${name}: ${SEE} for what to write into ${where}`]
  }
  // Of another Worker, which exports it.
  if (isOwn || memberOf(binding, 'script_name') !== undefined) return []
  const problems: string[] = []
  if (!isExported(code)) problems.push(`the entry does not export the class ${CLASS}: ${EXPORT}`)
  const migrations = listOf(memberOf(section, 'migrations') ?? settings.migrations)
  const has = (member: string): boolean =>
    migrations.some((one) => listOf(memberOf(one, member)).includes(name))
  const isMoved = ['renamed_classes', 'transferred_classes'].some((member) =>
    migrations.some((one) => listOf(memberOf(one, member)).some((moved) => memberOf(moved, 'to') === name)),
  )
  if (has('new_classes')) problems.push(`${name} needs SQLite: put it into new_sqlite_classes of ${file}`)
  else if (!has('new_sqlite_classes') && !isMoved)
    problems.push(`no migration of ${file} makes ${name}: add it to new_sqlite_classes`)
  return problems
}

const SEE = 'see docs/sign-in-reference.md'
const EXPORT = `export { ${CLASS} } from 'mayfly-mcp/cloudflare'`

/** As esbuild writes them. */
function exportsIn(code: string): string {
  return [...code.matchAll(/\bexport \{[^}]*\}/g)].map(([text]) => text).join('\n')
}

function isExported(code: string): boolean {
  return (
    new RegExp(`\\b${CLASS}\\b`).test(exportsIn(code)) ||
    /\bexport \* from "mayfly-mcp\/cloudflare"/.test(code)
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
