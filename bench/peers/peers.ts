/** Every peer that is measured in process, in the order of the tables. */
import { LEGACY, MODERN } from '../requests.ts'
import { floor } from './floor.ts'
import { mayfly } from './mayfly.ts'
import { mcpLite, mcpLiteStream } from './mcp-lite.ts'
import type { Peer } from './peer.ts'
import { sdkV1 } from './sdk-v1.ts'
import { sdkV2 } from './sdk-v2.ts'

export const PEERS: readonly Peer[] = [
  floor(MODERN),
  mayfly(MODERN),
  sdkV2,
  floor(LEGACY),
  mayfly(LEGACY),
  mcpLite,
  mcpLiteStream,
  sdkV1,
]
