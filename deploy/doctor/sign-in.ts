/** What `mayfly doctor` says about sign-in without asking anybody: the provider, its variables, the redirect URLs and the store. */

import type { DeploymentInfo } from '../../src/index.ts'
import { placeOf } from '../../src/sign-in/place.ts'
import type { Finding, Project, Target } from '../contract/target.ts'
import { makesTable } from '../project/project.ts'
import { ownFile, stageOption } from '../project/stages.ts'
import { listed } from '../terminal/listed.ts'
import type { Guarded } from './describe.ts'

type Facts = NonNullable<DeploymentInfo['signIn']>
type Platform = Pick<
  Target,
  'title' | 'abilities' | 'defaultPort' | 'hasOneProcess' | 'isOwnMachine' | 'files' | 'textDomain'
>

export interface Known {
  /** Of the deployed MCP endpoint. Default: `http.publicUrl`. */
  readonly url?: string | undefined
  /** What the provider says. Undefined: it was not asked. */
  readonly asked?: readonly Finding[] | undefined
  /** What needs scopes of its caller. Default: nothing. */
  readonly guarded?: readonly Guarded[] | undefined
}

/** What a server that signs people in needs on this platform. */
export function signInFindings(
  info: DeploymentInfo,
  target: Platform,
  project: Project,
  { url = info.publicUrl, asked, guarded }: Known = {},
): Finding[] {
  const { signIn } = info
  if (signIn === undefined) return []
  return [
    variableFinding(signIn, project),
    ...redirectFindings(signIn, target, project, url),
    ...(asked ?? notAsked(signIn)),
    ...scopeFindings(signIn, guarded),
    ...storeFindings(signIn, target, project),
    ...hostFindings(info, target),
    ...pageFindings(target, url),
  ]
}

/** Lists leave out what needs a scope that its caller lacks: without a hint, it seems not to be there. */
export function scopeFindings(
  { scopes: given, initialScopes }: Pick<Facts, 'scopes' | 'initialScopes'>,
  guarded: readonly Guarded[] = [],
): Finding[] {
  if (given === undefined) return []
  return guarded.flatMap(({ what, scopes }): Finding[] => {
    const unknown = scopes.filter((scope) => !given.includes(scope))
    if (unknown.length > 0)
      return [
        {
          level: 'warning',
          message: `nobody can use the ${what}: signIn does not give out the ${scopesOf(unknown)} that it needs; add it to "scopes" of signIn`,
        },
      ]
    const later = scopes.filter((scope) => !initialScopes.includes(scope))
    if (later.length === 0) return []
    const message = `the ${what} is not listed after a first sign-in: its ${scopesOf(later)} is not in "initialScopes" of signIn`
    return [{ level: 'ok', message }]
  })
}

const scopesOf = (names: readonly string[]): string =>
  `scope${names.length === 1 ? '' : 's'} ${listed(names)}`

/** Names only, never values. */
function variableFinding({ provider, variables, unset }: Facts, { stage }: Project): Finding {
  const who = `people sign in with ${provider}`
  if (unset.length === 0) {
    const settings = variables.length === 0 ? 'its settings are in the code' : areSet(variables, '')
    return { level: 'ok', message: `${who}: ${settings}` }
  }
  const set = variables.filter((name) => !unset.includes(name))
  const has = set.length === 0 ? '' : `, ${areSet(set, '')}`
  const options = unset.map((name) => `--secret ${name}`).join(' ')
  const remedy = `put what ${provider} gave you into ${ownFile(stage)}, and send it with mayfly deploy ${options}${stageOption(stage)}`
  return { level: 'error', message: `${who}: ${areSet(unset, 'not ')}${has}; ${remedy}` }
}

function areSet(names: readonly string[], not: string): string {
  return `${listed(names)} ${names.length === 1 ? 'is' : 'are'} ${not}set`
}

function redirectFindings(
  { provider }: Facts,
  target: Platform,
  project: Project,
  url: string | undefined,
): Finding[] {
  const path = target.files({ name: project.name }).path ?? '/mcp'
  const local = placeOf(`http://127.0.0.1:${target.defaultPort}${path}`).callback
  const unknown = placeOf(`https://host.invalid${path}`).callback.replace('host.invalid', '<host>')
  const known =
    url === undefined
      ? `${unknown}, with the server's host, which http.publicUrl or --url names`
      : placeOf(url).callback
  return [
    { level: 'ok', message: `the redirect URL to register with ${provider}: ${known}` },
    { level: 'ok', message: `for mayfly dev, once the variables are set: ${local}` },
  ]
}

/** After a deployment that made the URL known. */
export function redirectNote(url: string): string {
  return `people sign in: register ${placeOf(url).callback} with the provider as redirect URL; npx mayfly doctor --online --url ${url} asks whether it knows it`
}

function notAsked({ provider, unset }: Facts): Finding[] {
  if (unset.length > 0) return []
  const message = `${provider} was not asked whether it knows the client and the redirect URL: --online asks it`
  return [{ level: 'ok', message }]
}

/** Whether all processes find what sign-in stores. */
function storeFindings(
  { hasLocalStore }: Facts,
  { title, abilities, hasOneProcess = false }: Platform,
  project: Project,
): Finding[] {
  if (hasLocalStore !== true) return []
  // The deployment makes the table and sets its variable.
  if (abilities.tasks === 'dynamodb' && makesTable(project, 'grants'))
    return [{ level: 'ok', message: 'the deployment makes the table of connections' }]
  const level = hasOneProcess ? 'warning' : 'error'
  return [{ level, message: grantsInMemory({ title, hasOneProcess }) }]
}

/** The finding for connections that no other process has. */
export function grantsInMemory({
  title,
  hasOneProcess = false,
}: Pick<Target, 'title' | 'hasOneProcess'>): string {
  const lost = hasOneProcess
    ? 'so all people must sign in again when it ends'
    : `and ${title} may run several and end any of them, so nobody stays signed in`
  return `connections of people are in the memory of a process, ${lost}: pass a shared store, see docs/sign-in.md`
}

/** No adapter of these platforms knows which host names are the server's. */
function hostFindings(
  { publicUrl, trustsProxy = false }: DeploymentInfo,
  { isOwnMachine = false }: Platform,
): Finding[] {
  if (!isOwnMachine) return []
  if (publicUrl !== undefined) {
    const known: Finding = { level: 'ok', message: 'the server knows its public URL' }
    return publicUrl.startsWith('https:') && !trustsProxy ? [known, behindProxy] : [known]
  }
  const message =
    'beyond loopback, sign-in answers 503 until the server knows its URL: set http.publicUrl to the https URL of the endpoint, or its host in MAYFLY_ALLOWED_HOSTS'
  return [{ level: 'warning', message }]
}

const behindProxy: Finding = {
  level: 'warning',
  message:
    'behind a proxy, all callers have its address, so a stranger who sends wrong codes makes everybody wait: set http.trustProxy if the proxy sets X-Forwarded-For',
}

/** Whether people see pages. */
function pageFindings({ title, textDomain }: Platform, url: string | undefined): Finding[] {
  if (textDomain === undefined) return []
  const host = url === undefined ? textDomain : new URL(url).hostname
  if (!host.endsWith(textDomain)) return []
  const message = `${title} shows pages as text on its own domain, so nobody can sign in there: give the project a custom domain, and set http.publicUrl to the URL with it`
  return [{ level: 'warning', message }]
}
