/** What a peer is: something that serves a given list of tools from one fetch handler. */
import type { Dialect } from '../requests.ts'
import type { EchoTool } from '../tools.ts'

export type FetchHandler = (request: Request) => Response | Promise<Response>

export interface Peer {
  readonly name: string
  readonly dialect: Dialect
  /** Called once, before the clock starts: what a peer does per process, it does here. */
  serve(tools: readonly EchoTool[]): FetchHandler
}

export const SERVER_INFO = { name: 'bench', version: '1.0.0' } as const
