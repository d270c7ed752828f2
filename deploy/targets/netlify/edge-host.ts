/** Source of the module that runs a Netlify Edge Function on Deno, called as Netlify calls it. */
import { denoDrain } from '../deno/program.ts'

export const EDGE_HOST = `import handler from '../netlify/edge-functions/mcp.js'

globalThis.Netlify = { env: { toObject: () => Deno.env.toObject() } }
const waitUntil = (promise) =>
  void promise.catch((error) => {
    try {
      console.error(error)
    } catch {
      console.error('Background work failed.')
    }
  })
const running = Deno.serve((request, info) => handler(request, { ip: info.remoteAddr.hostname, waitUntil }))
${denoDrain()}`
