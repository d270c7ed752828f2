/**
 * Run as `describe.ts <bundle> [<asking>]`: loads a built server and prints its configuration as one line of JSON. With `asking`, JSON with
 * the `url` of the endpoint if it is known, it asks the identity provider that people sign in with.
 */

import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { serverWithin } from '../../src/http/mounted.ts'
import type { DeploymentInfo, Implementation } from '../../src/index.ts'
import { placeOf } from '../../src/sign-in/place.ts'
import type { Upstream } from '../../src/sign-in/upstream/upstream.ts'
import type { Finding } from '../contract/target.ts'
import { importOrEnd } from '../run/load-reason.ts'
import { askProvider } from './ask-provider.ts'
import { type Found, serverIn } from './server-in.ts'

/** What a server reports about itself and its configuration. */
export interface Identity extends Implementation {
  readonly id: string
  readonly instructions?: string | undefined
  readonly repository?: { readonly url: string; readonly source?: string; readonly id?: string }
  readonly packages?: readonly object[]
  readonly remotes?: readonly object[]
  readonly toolList: readonly { readonly name: string; readonly description?: string }[]
  readonly promptList: readonly { readonly name: string; readonly description?: string }[]
}

export interface Description {
  /** Undefined for a server that was not written with Mayfly. */
  readonly info: DeploymentInfo | undefined
  readonly tools: number | undefined
  readonly identity?: Identity | undefined
  /** Whether the server was found in an app that the entry exports. */
  readonly isApp?: boolean
  /** Whether the entry exports a handler for the schedules of its platform. */
  readonly hasScheduled?: boolean
  /** Why the server cannot serve any request: the error in a tool, resource or prompt. */
  readonly fault?: string | undefined
  /** What the identity provider says of the settings. Undefined: it was not asked. */
  readonly asked?: readonly Finding[] | undefined
  /** What needs scopes of its caller. */
  readonly guarded?: readonly Guarded[]
}

/** A tool, prompt, resource or event. */
export interface Guarded {
  /** `tool agenda` */
  readonly what: string
  readonly scopes: readonly string[]
}

type Described = Found & { getServerDetail?(): Pick<Identity, 'repository' | 'packages' | 'remotes'> }

/** A shorter value may be a word of a message. */
const MIN_HIDDEN_CHARACTERS = 8

const { default: exported } = await importOrEnd(process.argv[2] ?? '')
const server: Described | undefined = serverIn(exported)
const description = describe()
const asked = await askedOf(description, process.argv[3])
process.stdout.write(`\n${JSON.stringify({ ...description, asked })}\n`)
process.exit(0)

function describe(): Description {
  const info = server?.getDeploymentInfo?.(process.env)
  try {
    const tools = server?.getToolListInfo?.().tools
    const identity = tools && identify(serverWithin(server) as Described, tools)
    const guarded = tools && [...guardedIn(serverWithin(server) as Described), ...guardedEvents(info)]
    const hasScheduled = typeof memberOf(exported, 'scheduled') === 'function'
    const isApp = server !== exported
    return { info, tools: tools?.length, identity, isApp, hasScheduled, ...(guarded && { guarded }) }
  } catch (error) {
    return { info, tools: undefined, fault: textOf(error) }
  }
}

function guardedIn(inner: Described): readonly Guarded[] {
  const definition = inner.getSessionParts?.().definition
  if (definition === undefined) return []
  const { tools, prompts, resources } = definition
  const all: readonly (readonly [what: string, scopes: readonly string[] | undefined])[] = [
    ...[...tools].map(([name, { source }]) => [`tool ${name}`, source.scopes] as const),
    ...[...prompts.declared].map(([name, { config }]) => [`prompt ${name}`, config.scopes] as const),
    ...[...resources.fixed].map(([uri, { config }]) => [`resource ${uri}`, config.scopes] as const),
    ...resources.templates.map(({ config }) => [`resource ${config.uriTemplate}`, config.scopes] as const),
  ]
  return all.flatMap(([what, scopes = []]) => (scopes.length === 0 ? [] : [{ what, scopes }]))
}

function guardedEvents(info: DeploymentInfo | undefined): readonly Guarded[] {
  return Object.entries(info?.eventScopes ?? {}).flatMap(([id, scopes]) =>
    scopes.length === 0 ? [] : [{ what: `event ${id}`, scopes }],
  )
}

/** Nobody asks without all settings. */
async function askedOf({ info }: Description, asking: string | undefined): Promise<Finding[] | undefined> {
  const signIn = info?.signIn
  if (asking === undefined || signIn?.upstream === undefined || signIn.unset.length > 0) return undefined
  const { url = info?.publicUrl } = JSON.parse(asking) as { url?: string }
  const { env } = process
  const findings = await askProvider(signIn.upstream() as Upstream, {
    env,
    redirectUri: url === undefined ? undefined : placeOf(url).callback,
  })
  // A provider may repeat what it was sent.
  const shown = (text: string): string =>
    signIn.variables.reduce((safe, name) => {
      const value = env[name] ?? ''
      return value.length < MIN_HIDDEN_CHARACTERS ? safe : safe.replaceAll(value, `<${name}>`)
    }, text)
  return findings.map(({ level, message }) => ({ level, message: shown(message) }))
}

/** `inner`: a wrapper describes its tools and deployment, but not its identity. */
function identify(inner: Described, tools: Identity['toolList']): Identity | undefined {
  const { id } = inner
  // Only a server of `mayfly-mcp/mastra` tells of its publication.
  const { repository, packages, remotes } = inner.getServerDetail?.() ?? {}
  const definition = inner.getSessionParts?.().definition
  if (id === undefined || definition === undefined) return undefined
  const { serverInfo, instructions, prompts } = definition
  return {
    ...serverInfo,
    id,
    instructions,
    ...(repository !== undefined && { repository }),
    ...(packages !== undefined && { packages }),
    ...(remotes !== undefined && { remotes }),
    toolList: tools.map(named),
    promptList: [...prompts.declared.values()].map(({ prompt }) => named(prompt)),
  }
}

function named({ name, description }: { name: string; description?: string | undefined }) {
  return { name, ...(description !== undefined && { description }) }
}
