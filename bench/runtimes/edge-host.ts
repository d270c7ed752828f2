/**
 * Serves a script in Vercel's `edge-runtime`, by the server of that package itself: `edge-host.ts <script> <port>`. Nothing of ours is
 * between the server and the script.
 */
import { readFileSync } from 'node:fs'
import { EdgeRuntime, runServer } from 'edge-runtime'

const [script = '', port = ''] = process.argv.slice(2)

const runtime = new EdgeRuntime({
  initialCode: readFileSync(script, 'utf8'),
  // Of `process`, only the variables exist on the platform.
  extend: (context) => Object.assign(context, { process: { env: {} } }),
})
await runServer({ runtime, port: Number(port), host: '127.0.0.1' })
