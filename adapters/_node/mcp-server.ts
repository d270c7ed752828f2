/**
 * `MCPServer` with the start methods that other frameworks have; for processes, not for edge platforms.
 */
import { MCPServer as CoreServer } from '../../src/index.ts'
import {
  closeSessions,
  type StartHonoSSE,
  type StartHTTP,
  type StartSSE,
  startHonoSSE,
  startHTTP,
  startSSE,
} from './start.ts'
import { type StdioOptions, type StdioServer, startStdio } from './stdio.ts'

/**
 * The server of `mayfly-mcp`, with `startStdio`, `startHTTP`, `startSSE` and `startHonoSSE` as methods. `close` also ends everything
 * that they have opened.
 *
 * ```ts
 * const server = new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools })
 * await server.startStdio()
 * ```
 */
export class MCPServer extends CoreServer {
  #stdio: StdioServer | undefined
  #isClosing = false

  override async startStdio(options?: StdioOptions): Promise<StdioServer> {
    this.#stdio = await startStdio(this, options)
    return this.#stdio
  }

  override startHTTP(request: Omit<StartHTTP, 'server'>): Promise<void> {
    return startHTTP({ ...request, server: this })
  }

  override startSSE(request: Omit<StartSSE, 'server'>): Promise<void> {
    return startSSE({ ...request, server: this })
  }

  override startHonoSSE(request: Omit<StartHonoSSE, 'server'>): Promise<Response> {
    return startHonoSSE({ ...request, server: this })
  }

  override async close(): Promise<void> {
    // Called again by what is closed below.
    if (this.#isClosing) return super.close()
    this.#isClosing = true
    try {
      await Promise.all([this.#stdio?.close(), closeSessions(this), super.close()])
    } finally {
      this.#isClosing = false
    }
  }
}
