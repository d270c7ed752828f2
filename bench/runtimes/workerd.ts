/** workerd by itself, without wrangler's proxy: its configuration and its program. */
import { createRequire } from 'node:module'
import { resolveTool } from '../../deploy/project/project-tool.ts'
import { COMPATIBILITY } from '../../deploy/targets/cloudflare/config.ts'
import { ROOT } from './entry.ts'

/** `file` is relative to the folder of the configuration. */
export function workerdConfig(file: string, port: number): string {
  const { compatibility_date: date, compatibility_flags: flags } = COMPATIBILITY
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "bench", worker = (
    modules = [(name = "server.js", esModule = embed ${JSON.stringify(file)})],
    compatibilityDate = ${JSON.stringify(date)},
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "bench")],
);
`
}

/** The one that wrangler runs. */
export function workerdBinary(): string {
  const require = createRequire(resolveTool('wrangler/package.json', ROOT))
  return (require('workerd') as { default: string }).default
}
