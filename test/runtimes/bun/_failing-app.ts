/** Run by Bun: prints what a client gets from an app that throws. */
import { type BunServer, bun } from '../../../adapters/bun.ts'

declare const Bun: { serve(options: object): BunServer }

const app = { fetch: () => Promise.reject(new Error('a secret reason')) }
const served = Bun.serve({ ...bun(app), port: 0, hostname: '127.0.0.1' })
const response = await fetch(`http://127.0.0.1:${served.port}/`)
console.log(JSON.stringify([response.status, await response.text()]))
await served.stop(true)
// Bun exits with 1 after an error in a handler.
process.exit(0)
