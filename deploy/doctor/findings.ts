/** The findings of `mayfly doctor` that do not depend on the platform. */
import type { Feature } from '../../src/definition/context.ts'
import { MAKE_SECRET, MIN_SECRET_CHARACTERS, secretFault } from '../../src/definition/secret.ts'
import type { DeploymentInfo } from '../../src/index.ts'
import { availability } from '../../src/interaction/matrix.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../../src/protocol/versions.ts'
import { TASKS_EXTENSION } from '../../src/tasks/declared.ts'
import { TASK_FEATURE } from '../../src/tasks/feature.ts'
import type { Finding, Project, Target } from '../contract/target.ts'
import { type Cron, pathsOf } from '../project/cron.ts'
import { packageManifest } from '../project/mayfly-package.ts'
import { findSecret } from '../project/secrets.ts'
import { ownFile, stageOption } from '../project/stages.ts'
import { type EventsMade, eventFindings, taskFindings } from './deferred.ts'
import { FEATURES } from './used.ts'

type Folders = Pick<Project, 'cwd' | 'entry' | 'stage'>

/** A feature that a server with this configuration does not offer, and how to enable it. */
export interface Degradation {
  readonly features: readonly string[]
  readonly reason: string
  readonly remedy: string
}

/** A client that supports everything, so that every missing feature is the server's. */
const ABLE_CLIENT = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  extensions: { [TASKS_EXTENSION]: {} },
}

export function versionFindings(): Finding[] {
  const { version, engines } = packageManifest()
  const oldest = Number.parseInt(engines.node.replace(/\D+/, ''), 10)
  const isNew = Number.parseInt(process.versions.node, 10) >= oldest
  return [
    { level: 'ok', message: `mayfly-mcp ${version}` },
    isNew
      ? { level: 'ok', message: `Node ${process.version}` }
      : { level: 'error', message: `Node ${process.version} is too old: install Node ${oldest} or newer` },
  ]
}

/** Whether the secret is set and strong, if the server needs one or may need one later. */
export function secretFindings(project: Folders, info: DeploymentInfo): Finding[] {
  if (info.hasSecret) return [{ level: 'ok', message: 'the secret is in the configuration' }]
  const found = findSecret(project, 'MAYFLY_SECRET')
  if (found === undefined) {
    const { legacy, authFault, signIn } = info
    const isForSignIn = signIn?.needsSecret === true
    // `auth` says what it needs.
    if (!isForSignIn && authFault?.includes('MAYFLY_SECRET')) return []
    const needing = [
      ...(isForSignIn ? ['sign-in'] : []),
      ...(legacy === 'arguments' ? ["legacy: 'arguments'"] : []),
    ]
    const isNeeded = legacy === 'arguments' || (isForSignIn && signIn.hasLocalStore !== true)
    const why =
      needing.length === 0
        ? 'needed once a tool asks twice or remembers a step'
        : `${needing.join(' and ')} ${needing.length === 1 ? 'needs' : 'need'} it`
    return [
      {
        level: isNeeded ? 'error' : 'warning',
        message: `MAYFLY_SECRET is not set: ${why}; ${placeSecret('MAYFLY_SECRET', project.stage)}`,
      },
    ]
  }
  return found.value.split(/\s*,\s*/).map((secret) => secretFinding('MAYFLY_SECRET', secret, found.from))
}

/** What to do about a secret that is not set. */
function placeSecret(name: string, stage: string | undefined): string {
  return `put ${MIN_SECRET_CHARACTERS} or more random characters into ${ownFile(stage)}, and send them with mayfly deploy --secret ${name}${stageOption(stage)}`
}

function secretFinding(name: string, secret: string, from: string): Finding {
  if (secretFault(secret) === undefined)
    return { level: 'ok', message: `${name} is set (${from}) and strong` }
  return {
    level: 'error',
    message: `${name} (${from}) is weak: make one with ${MAKE_SECRET}`,
  }
}

/** Whether the secret of the schedule is set and strong, and whether it is being rotated. */
export function cronSecretFindings(project: Folders, crons: readonly Cron[]): Finding[] {
  if (crons.length === 0) return []
  const found = findSecret(project, 'CRON_SECRET')
  if (found === undefined) {
    const message = `CRON_SECRET is not set: the schedule calls ${pathsOf(crons)} with it; ${placeSecret('CRON_SECRET', project.stage)}`
    return [{ level: 'warning', message }]
  }
  const secrets = found.value.split(',')
  const findings = secrets.map((secret) => secretFinding('CRON_SECRET', secret, found.from))
  if (/\s/.test(found.value))
    findings.push({ level: 'error', message: `CRON_SECRET (${found.from}) contains blanks: remove them` })
  if (secrets.length > 1) {
    const message = `CRON_SECRET lists ${secrets.length} secrets: remove the old ones when their event URLs have expired`
    findings.push({ level: 'ok', message })
  }
  return findings
}

/** The finding for sessions on a platform without a long-lived process. */
export function homelessSessions({ title }: Pick<Target, 'title'>): string {
  return `sessions need one long-lived process, which ${title} does not guarantee: export the MCPServer itself`
}

/** What `auth` lacks in the variables of this machine, with which `dev` does not start. The platform may have others. */
export function authFindings({ authFault, signIn }: DeploymentInfo): Finding[] {
  if (authFault === undefined) return []
  // What sign-in says of the provider names all variables at once.
  if (signIn?.unset.length && /^"\w+" of \w+ is not set: set [^.]+\.$/.test(authFault)) return []
  // `secretFindings` says it.
  if (signIn?.needsSecret && /^MAYFLY_SECRET [^.]+\.$/.test(authFault)) return []
  return [{ level: 'error', message: `auth: ${authFault}` }]
}

/** What extensions say that an operator must set. */
export function extensionFindings({ extensionFaults = [] }: DeploymentInfo): Finding[] {
  return extensionFaults.map((message) => ({ level: 'error', message }))
}

/** Behind a proxy that terminates TLS, OAuth metadata would contain an http URL, to which no client sends a token. */
export function publicUrlFindings(
  { hasAuth = false, publicUrl, trustsProxy = false, signIn }: DeploymentInfo,
  { isOwnMachine = false }: Pick<Target, 'isOwnMachine'>,
): Finding[] {
  // What sign-in needs is told with it.
  if (!hasAuth || !isOwnMachine || signIn !== undefined) return []
  if (publicUrl !== undefined || trustsProxy)
    return [{ level: 'ok', message: 'the server knows its public URL' }]
  const message =
    'auth is set, but the server does not know its public URL: set http.publicUrl to the https URL that clients use, or http.trustProxy behind a proxy that sets X-Forwarded-Proto, such as those of Fly and Cloud Run'
  return [{ level: 'warning', message }]
}

/**
 * What the configuration lacks.
 *
 * @param made What the deployment adds to events.
 */
export function bindingFindings(
  info: DeploymentInfo,
  target: Pick<Target, 'title' | 'abilities' | 'hasOneProcess' | 'tasks'>,
  crons: readonly Cron[],
  made: EventsMade = {},
): Finding[] {
  const { buses, rendezvous } = target.abilities
  const { legacy, hasBus, hasLocalBus = false, hasRendezvous, hasSessions = false } = info
  const findings: Finding[] = []
  if (hasSessions && !target.hasOneProcess) {
    findings.push({ level: 'warning', message: homelessSessions(target) })
  }
  if (legacy === 'rendezvous' && !hasRendezvous) {
    findings.push({
      level: 'error',
      message: `legacy: 'rendezvous' needs a rendezvous: ${orNone(rendezvous, target)}, see docs/rendezvous.md`,
    })
  }
  if (hasRendezvous) findings.push({ level: 'ok', message: 'a rendezvous is configured' })
  if (hasBus) findings.push({ level: 'ok', message: 'a bus is configured' })
  if (hasBus && !hasLocalBus && buses.length === 0) {
    const message = `${target.title} opens no connection to Redis, Postgres or NATS: a bus works there only if it uses fetch`
    findings.push({ level: 'warning', message })
  }
  if (hasLocalBus && !target.hasOneProcess) {
    const message = `the bus is in memory, and ${target.title} may run several processes or isolates, so a change reaches only the clients of one: ${orNone(buses, target)}, see docs/events.md`
    findings.push({ level: 'warning', message })
  }
  return [...findings, ...taskFindings(info, target, crons), ...eventFindings(info, target, crons, made)]
}

/** Such as `pass redisBus or natsBus`. */
function orNone(engines: readonly string[], { title }: Pick<Target, 'title'>): string {
  if (engines.length === 0) return `${title} has none that reaches all its isolates`
  return `pass ${engines.join(' or ')}`
}

const SHARED_BUS = 'Pass a `bus` that all processes share, see docs/events.md.'

/** Where there is not one long-lived process: remedies in place of the matrix's, which are also for such a process. */
const ELSEWHERE: { readonly [lost: string]: string } = {
  'cancellation (legacy)': 'Connect with a client of 2026-07-28 or later, which closes the response.',
  'tasks (modern)': 'Pass `tasks` with a shared store, see docs/tasks-stores.md.',
  'tools.listChanged (modern)': SHARED_BUS,
  'prompts.listChanged (modern)': SHARED_BUS,
  'resources.listChanged (modern)': SHARED_BUS,
  'resources.subscribe (modern)': SHARED_BUS,
}

function leavingUnnoticed(
  feature: Feature,
  { title, cannotTellThatClientsLeft = false }: Pick<Target, 'title' | 'cannotTellThatClientsLeft'>,
): { readonly reason: string; readonly remedy: string } | undefined {
  if (feature !== 'cancellation' || !cannotTellThatClientsLeft) return undefined
  const reason = `${title} does not say that a client has left: a call ends by itself or at its deadline.`
  return { reason, remedy: 'Keep the timeout short, and make long work a task.' }
}

/** From the degradation matrix: what even a client with every feature does not get. */
export function degradations(
  info: DeploymentInfo,
  hasSecret: boolean,
  target: Pick<Target, 'title' | 'hasOneProcess' | 'cannotTellThatClientsLeft'>,
): Degradation[] {
  const { hasOneProcess = false } = target
  const found = new Map<string, { features: string[]; reason: string; remedy: string }>()
  for (const feature of FEATURES) {
    for (const era of ['modern', 'legacy'] as const) {
      const answer = availability(feature, {
        era,
        protocolVersion: era === 'modern' ? MODERN_VERSIONS[0]! : LEGACY_VERSIONS[0]!,
        clientCapabilities: ABLE_CLIENT,
        canStream: true,
        hasSession: info.hasSessions === true,
        extensions: info.hasTasks || era === 'legacy' ? TASK_FEATURE : undefined,
        hasBus: info.hasBus || hasOneProcess,
        hasSubscriptions: info.hasSubscriptions === true,
        hasRendezvous: info.hasRendezvous,
        hasSecret,
        legacyPolicy: info.legacy,
      })
      const name = `${feature} (${era})`
      const lost = leavingUnnoticed(feature, target) ?? (answer.available ? undefined : answer)
      if (lost === undefined) continue
      const { reason } = lost
      const remedy = (!hasOneProcess && lost === answer && ELSEWHERE[name]) || lost.remedy
      const known = found.get(reason) ?? { features: [], reason, remedy }
      known.features.push(name)
      found.set(reason, known)
    }
  }
  return [...found.values()]
}
