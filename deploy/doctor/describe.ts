/** Run as `describe.ts <bundle>`: loads a built server and prints its configuration as one line of JSON. */

import { textOf } from '../../src/definition/error-text.ts'
import { serverWithin } from '../../src/http/mounted.ts'
import type { DeploymentInfo, Implementation } from '../../src/index.ts'
import { importOrEnd } from '../run/load-reason.ts'
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
  /** Why the server cannot serve any request: the error in a tool, resource or prompt. */
  readonly fault?: string | undefined
}

type Described = Found & { getServerDetail?(): Pick<Identity, 'repository' | 'packages' | 'remotes'> }

const { default: exported } = await importOrEnd(process.argv[2] ?? '')
const server: Described | undefined = serverIn(exported)
process.stdout.write(`\n${JSON.stringify(describe())}\n`)
process.exit(0)

function describe(): Description {
  const info = server?.getDeploymentInfo?.(process.env)
  try {
    const tools = server?.getToolListInfo?.().tools
    const identity = tools && identify(serverWithin(server) as Described, tools)
    return { info, tools: tools?.length, identity, isApp: server !== exported }
  } catch (error) {
    return { info, tools: undefined, fault: textOf(error) }
  }
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
