/** Walks through the steps of each client, and reports where it would stop. */
import { isA } from '../../../src/definition/error-text.ts'
import type { ClientId, Profile, Source, Step } from '../clients/profile.ts'
import { TITLES } from '../clients/profile.ts'
import { type Contact, makeContact, type Word } from '../contact.ts'
import { FOREIGN_PAGE } from '../cors.ts'
import { Endpoint } from '../endpoint.ts'
import { answersMcp } from '../eras.ts'
import { type Outcome, Stop, showOutcome, skipped, wrong } from '../outcome.ts'
import { type CheckOptions, defaultDeadlineMs, type Report, reportOnly } from '../run.ts'
import { toSafeText } from '../safe-text.ts'
import { createHide, secretsIn } from '../secrets.ts'
import { Wire } from '../wire.ts'
import { findEvents } from './find-events.ts'
import { knock } from './knock.ts'
import { listTools } from './list-tools.ts'
import { lookForOAuth } from './look-for-oauth.ts'
import { reach } from './reach.ts'
import { readIssuer } from './read-issuer.ts'
import { readResource } from './read-resource.ts'
import { register } from './register.ts'
import { refresh, requirePkce } from './sign-in.ts'
import { type Stepped, stopped, type Trail } from './trail.ts'

export interface WalkOptions extends CheckOptions {
  /** Whether clients may be registered, which leaves records at the authorization server. */
  readonly mayRegister: boolean
}

export type WalkedStep = Outcome & {
  /** `claude.resource` */
  readonly id: string
  readonly title: string
  /** The source for this behaviour of the client. */
  readonly sources: readonly Source[]
}

export interface Walk {
  readonly client: ClientId
  readonly name: string
  /** The id of the step at which the client would stop. */
  readonly stopsAt: string | undefined
  /** Undefined: it cannot be told, since a step was not tried. */
  readonly wouldConnect: boolean | undefined
  readonly steps: readonly WalkedStep[]
}

/** Reports a URL that is not an MCP server like `runProbes`. Throws `NothingAnswers`. Ends the sessions that it opens. */
export async function walkAs(
  profiles: readonly Profile[],
  options: WalkOptions,
): Promise<readonly Walk[] | Report> {
  const { timeoutMs, deadlineMs = defaultDeadlineMs(timeoutMs) } = options
  const wire = new Wire({ ...options, deadlineMs })
  const contact = await makeContact(wire)
  const endpoint = new Endpoint(wire, contact, FOREIGN_PAGE)
  const hide = createHide(secretsIn(options))
  try {
    if (!isWorthWalking(contact)) return await reportOnly(answersMcp, endpoint)
    const walks: Walk[] = []
    for (const profile of profiles) {
      const trail = { profile, wire, endpoint, mayRegister: options.mayRegister, url: options.url }
      walks.push(await walk(trail, (text) => toSafeText(text, hide)))
    }
    return walks
  } finally {
    await endpoint.close()
  }
}

/** Only if MCP, a challenge, a firewall or a redirect answers, not for other sites. */
function isWorthWalking({ isModern, isLegacy, isLocked, redirect, discover, initialize }: Contact): boolean {
  const words = [discover, initialize].filter((word): word is Word => !(word instanceof Stop))
  const isRpc = words.some(({ response }) => response !== undefined)
  return (
    isModern ||
    isLegacy ||
    isLocked ||
    isRpc ||
    redirect !== undefined ||
    words.some(({ answer }) => answer.status === 403)
  )
}

/** The steps of the sign-in, which are skipped for an open server or without an authorization server. */
const SIGN_IN: readonly Step['does'][] = [
  'read resource',
  'read issuer',
  'require PKCE',
  'register',
  'refresh',
]

async function walk(start: Trail, show: (text: string) => string): Promise<Walk> {
  const { profile } = start
  let trail = start
  let why: Outcome | undefined
  let stopsAt: string | undefined
  const steps: WalkedStep[] = []
  for (const step of profile.steps) {
    const id = `${profile.id}.${step.id}`
    const left = stopsAt === undefined ? whyLeftOut(step, trail, why) : skipped('not reached')
    const { outcome, found, signInEnds } =
      left === undefined ? finished(await take(step, trail), trail) : { outcome: left }
    trail = { ...trail, ...found }
    why ??= signInEnds
    if (outcome.verdict === 'wrong') stopsAt = id
    steps.push({ id, title: TITLES[step.does], ...showOutcome(outcome, show), sources: step.sources })
  }
  const isTried = !steps.some((step) => 'toTry' in step)
  const wouldConnect = stopsAt !== undefined ? false : isTried || undefined
  return { client: profile.id, name: profile.name, stopsAt, wouldConnect, steps }
}

function whyLeftOut({ does }: Step, { isOpen }: Trail, why: Outcome | undefined): Outcome | undefined {
  if (does === 'look for OAuth')
    return isOpen === true ? undefined : (why ?? skipped('the server requires a token'))
  if (!SIGN_IN.includes(does)) return undefined
  return isOpen === true ? skipped('no token is required') : why
}

/** An aborted step says nothing about the client, and must not count as a passed one. */
function finished(stepped: Stepped, { wire: { givenUp } }: Trail): Stepped {
  if (givenUp === undefined || stepped.outcome.verdict === 'wrong') return stepped
  const fix = 'answer every request in time; if the server is only slow, pass a longer --timeout'
  return { outcome: wrong(`not completed: ${givenUp}`, fix) }
}

async function take(step: Step, trail: Trail): Promise<Stepped> {
  try {
    switch (step.does) {
      case 'reach':
        return reach(step, trail)
      case 'knock':
        return await knock(step, trail)
      case 'look for OAuth':
        return await lookForOAuth(trail)
      case 'read resource':
        return await readResource(step, trail)
      case 'read issuer':
        return await readIssuer(step, trail)
      case 'require PKCE':
        return requirePkce(step, trail)
      case 'register':
        return await register(step, trail)
      case 'refresh':
        return refresh(trail)
      case 'list tools':
        return await listTools(step, trail)
      case 'find events':
        return await findEvents(step, trail)
    }
  } catch (error) {
    if (isA(error, Stop)) return { outcome: stopped(error) }
    throw error
  }
}
