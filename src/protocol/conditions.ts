/**
 * The conditions that the degradation matrix depends on: derived here, and only here, from a call and its deployment.
 */
import type { Definition } from '../definition/compile.ts'
import type { Conditions } from '../interaction/matrix.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { acceptedTypes } from './sse-response.ts'

/** Whether the response to a message can be streamed: both the platform and the client must support it. */
export function canStream({ platform, sent }: Pick<Incoming, 'platform' | 'sent'>): boolean {
  return platform.canStream !== false && acceptedTypes(sent.get('accept')).canStream
}

/** What the server has for this message. */
export function definitionOf(
  { definition }: Pick<Incoming, 'definition'>,
  options: Pick<EngineOptions, 'definition'>,
): Definition {
  return definition ?? options.definition
}

export function conditionsOf(
  {
    era,
    protocolVersion,
    clientCapabilities,
  }: Pick<Conditions, 'era' | 'protocolVersion' | 'clientCapabilities'>,
  incoming: Pick<Incoming, 'platform' | 'sent'>,
  {
    bus,
    asking,
    subscriptions,
    extensions,
  }: Pick<EngineOptions, 'bus' | 'asking' | 'subscriptions'> & Partial<Pick<EngineOptions, 'extensions'>>,
): Conditions {
  const { session, env, isLongLived, seesDisconnect } = incoming.platform
  const hasSecret = asking.sealFor(env) !== undefined
  return {
    era,
    protocolVersion,
    clientCapabilities,
    canStream: canStream(incoming),
    hasBus: bus === undefined ? isLongLived === true : bus !== false,
    hasSubscriptions: subscriptions !== undefined,
    hasSecret,
    hasRendezvous: asking.rendezvousFor(env) !== undefined,
    legacyPolicy: asking.legacyPolicy,
    hasSession: session !== undefined,
    extensions,
    mustRemember: asking.singleUse !== undefined,
    seesDisconnect: seesDisconnect !== false,
  }
}
