/**
 * Run as `site-secrets.ts <netlify-cli's program> <site> <options>...` with one of these on stdin:
 *
 * - `{ "set": { NAME: value } }` stores each variable as a secret of the site, for its functions;
 * - `{ "remove": [NAME] }` removes variables of the site;
 * - `{ "list": true }` prints their names and ages as JSON, never their values.
 *
 * Drops the CLI's output: `netlify api` prints Netlify's answers, `env:import` a table.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { ownModule } from '../../project/own-module.ts'
import { terminal } from '../../terminal/terminal.ts'

const API_CALL = ownModule('deploy/targets/netlify/api-call')

/** A secret cannot be for all contexts (`dev` would show it): https://docs.netlify.com/build/environment-variables/secrets-controller/ */
const CONTEXTS = ['production', 'deploy-preview', 'branch-deploy']
const FUNCTIONS = ['functions']
/** Free plans refuse to set scopes (403), and allow only these for a secret: netlify/terraform-provider-netlify#131. */
const FREE_PLAN = ['builds', 'functions', 'runtime']

interface Work {
  readonly set?: { readonly [name: string]: string }
  readonly remove?: readonly string[]
  readonly list?: boolean
}

interface Place {
  readonly account_id: string
  readonly site_id: string
}

interface Call {
  readonly isDone: boolean
  /** Netlify's answer, as text. */
  readonly answer: string
  /** For example `403`, if Netlify refused the call. */
  readonly status: string | undefined
}

const [, , program = '', site = '', ...options] = process.argv
process.exit(await work(JSON.parse(await text(process.stdin)) as Work))

async function work({ set = {}, remove = [], list = false }: Work): Promise<number> {
  if (site === '') {
    return refuse('there is no site for the secrets: run npx netlify link, or pass -- --site <name or id>')
  }
  const found = await call('getSite', { site_id: site })
  const { id, account_slug } = found.isDone ? siteOf(found.answer) : {}
  if (id === undefined || account_slug === undefined) {
    return refuse(`Netlify does not show the site ${site}${statusSuffix(found)}: run npx netlify status`)
  }
  const place = { account_id: account_slug, site_id: id }
  if (list) return printNames(place)
  for (const key of remove) {
    const removed = await call('deleteEnvVar', { ...place, key })
    if (!removed.isDone)
      return refuse(
        `Netlify did not remove ${key}${statusSuffix(removed)}: see the site in Netlify's dashboard`,
      )
  }
  for (const [key, value] of Object.entries(set)) {
    const stored = await store(place, key, value)
    if (!stored.isDone) {
      return refuse(
        `Netlify did not take ${key}${statusSuffix(stored)}: set it in Netlify's dashboard, as a secret, and deploy again without --secret ${key}`,
      )
    }
  }
  return 0
}

async function printNames(place: Place): Promise<number> {
  const listed = await call('getEnvVars', place)
  if (!listed.isDone) return refuse(`Netlify does not list the variables of ${site}${statusSuffix(listed)}`)
  const variables = JSON.parse(listed.answer) as { key?: string; updated_at?: string }[]
  const names = variables.map(({ key, updated_at }) => ({ key, updated_at }))
  process.stdout.write(`${JSON.stringify(names)}\n`)
  return 0
}

async function store(place: Place, key: string, value: string): Promise<Call> {
  const { isDone } = await call('getEnvVar', { ...place, key })
  let last: Call = { isDone: false, answer: '', status: undefined }
  for (const scopes of [FUNCTIONS, FREE_PLAN]) {
    const values = CONTEXTS.map((context) => ({ context, value }))
    const body = { key, is_secret: true, scopes, values }
    last = isDone
      ? await call('updateEnvVar', { ...place, key, body })
      : await call('createEnvVars', { ...place, body: [body] })
    if (last.status !== '403') return last
  }
  return last
}

async function call(method: string, data: object): Promise<Call> {
  const child = spawn(process.execPath, [API_CALL, program, ...options], {
    // With CI set, the CLI sends no usage or error reports, which would pass values to other processes on command lines.
    env: { ...process.env, CI: '1', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let answer = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    answer += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    complaint += part
  })
  // If it ends without reading its stdin, its exit code shows it.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify({ method, data }))
  const [code] = (await once(child, 'close')) as [number | null]
  return { isDone: code === 0, answer, status: statusOf(answer + complaint) }
}

/** As its errors name it. */
function statusOf(output: string): string | undefined {
  if (/Upgrade your Netlify account|\bForbidden\b/.test(output)) return '403'
  if (/\bUnauthorized\b/.test(output)) return '401'
  return /\b(?:HTTP |status:? |Error: )([45]\d\d)\b/i.exec(output)?.[1]
}

function siteOf(answer: string): { id?: string; account_slug?: string } {
  try {
    return JSON.parse(answer) as { id?: string; account_slug?: string }
  } catch {
    return {}
  }
}

function statusSuffix({ status }: Call): string {
  return status === undefined ? '' : ` (HTTP ${status})`
}

function refuse(line: string): number {
  terminal.warn(line)
  return 1
}
