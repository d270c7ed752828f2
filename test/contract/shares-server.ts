/** A server of which callers take all they can, on any runtime. The token of a caller is its name. */
import { bearer } from '../../src/auth.ts'
import { createMemoryBus, createTool, MCPServer } from '../../src/index.ts'

/** How many calls, streams, and large bodies there are. */
export const PLACES = 8

/** What a body of `UPLOAD_BYTES` takes of the buffers: what is above 64 KiB. */
export const UPLOAD_BYTES = 100_000
const BUFFERED = UPLOAD_BYTES - 65_536

export const createSharesServer = (): MCPServer =>
  new MCPServer({
    id: 'shares',
    name: 'Shares',
    version: '1.0.0',
    log: false,
    auth: bearer((token) => ({ clientId: token, scopes: [], extra: { sub: token } })),
    bus: createMemoryBus(),
    tools: {
      never: createTool({
        id: 'never',
        execute: async (_input, ctx) => {
          // The response begins, so that the client knows that it has a place.
          await ctx.reportProgress({ progress: 1 })
          return new Promise((_resolve, reject) => {
            ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
          })
        },
      }),
    },
    http: {
      maxConcurrentCalls: PLACES,
      maxListenStreams: PLACES,
      maxBufferedBytes: PLACES * BUFFERED,
      maxBodyBytes: 2 * UPLOAD_BYTES,
    },
  })
