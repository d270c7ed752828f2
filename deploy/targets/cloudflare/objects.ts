/** Whether a Worker that has a store in a Durable Object has the object: the binding, the migration and the export. */
import { basename } from 'node:path'
import { memberOf } from '../../../src/definition/error-text.ts'
import { ownCode } from '../../build/bundler.ts'
import type { Finding, Project } from '../../contract/target.ts'
import { findWranglerConfig } from './config.ts'
import { readSettings, type Settings } from './place.ts'

/** A store whose entries are in a Durable Object. */
interface StoreObject {
  /** What makes the store. */
  readonly creator: string
  readonly type: string
  readonly entries: string
  /** What a missing binding needs; the name of the file follows. */
  readonly remedy: string
}

const STORES: readonly StoreObject[] = [
  {
    creator: 'durableObjectGrants',
    type: 'MayflyGrants',
    entries: 'connections of people',
    remedy: 'see docs/sign-in-reference.md for what to write into',
  },
  {
    creator: 'durableObjectEvents',
    type: 'MayflyEvents',
    entries: 'events',
    remedy:
      '[[durable_objects.bindings]] with name = "EVENTS" and class_name = "MayflyEvents", and [[migrations]] with tag = "mayfly-events-1" and new_sqlite_classes = ["MayflyEvents"], belong into',
  },
]

/** Nothing for a Worker whose own code does not use such a store. */
export async function objectFindings(project: Project): Promise<Finding[]> {
  const code = await ownCode(project)
  const used = STORES.filter(({ creator }) => new RegExp(`\\b${creator}\\b`).test(code))
  if (used.length === 0) return []
  const path = findWranglerConfig(project.cwd)
  const file = path === undefined ? 'wrangler.toml' : basename(path)
  const settings = path === undefined ? {} : readSettings(path)
  return used.flatMap((store): Finding[] => {
    const name = new RegExp(`\\b${store.type} as (\\w+)`).exec(exportsIn(code))?.[1] ?? store.type
    const problems = problemsWith(settings, { project, file, code, name, store })
    if (problems.length === 0)
      return [{ level: 'ok', message: `${store.entries} are in the Durable Object ${name}` }]
    return problems.map((message) => ({ level: 'error', message: `${store.creator}: ${message}` }))
  })
}

/** The schedules of the configuration; an environment without its own has those of the rest. */
export function triggers({ cwd, stage }: Project): readonly string[] {
  const path = findWranglerConfig(cwd)
  const settings = path === undefined ? {} : readSettings(path)
  const section = stage === undefined ? undefined : memberOf(memberOf(settings, 'env'), stage)
  return listOf(memberOf(memberOf(section, 'triggers') ?? settings.triggers, 'crons')).map(String)
}

interface Names {
  readonly project: Project
  readonly file: string
  readonly code: string
  /** Of the class, as it is exported. */
  readonly name: string
  readonly store: StoreObject
}

function problemsWith(settings: Settings, { project: { stage }, file, code, name, store }: Names): string[] {
  const { type, remedy } = store
  const section = stage === undefined ? settings : memberOf(memberOf(settings, 'env'), stage)
  const bound = listOf(memberOf(memberOf(section, 'durable_objects'), 'bindings'))
  const isOwn = new RegExp(`\\bextends ${type}\\b`).test(code)
  const binding = bound.find((one) => isOwn || memberOf(one, 'class_name') === name)
  if (binding === undefined) {
    const where = stage === undefined ? file : `the environment ${stage} of ${file}`
    return [`no binding has the class ${name}: ${remedy} ${where}`]
  }
  // Of another Worker, which exports it.
  if (isOwn || memberOf(binding, 'script_name') !== undefined) return []
  const problems: string[] = []
  if (!isExported(code, type))
    problems.push(
      `the entry does not export the class ${type}: export { ${type} } from 'mayfly-mcp/cloudflare'`,
    )
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

/** As esbuild writes them. */
function exportsIn(code: string): string {
  return [...code.matchAll(/\bexport \{[^}]*\}/g)].map(([text]) => text).join('\n')
}

function isExported(code: string, type: string): boolean {
  return (
    new RegExp(`\\b${type}\\b`).test(exportsIn(code)) ||
    /\bexport \* from "mayfly-mcp\/cloudflare"/.test(code)
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
