/** The manifest of a desktop bundle (MCPB, version 0.3), from a server's description and its package.json. */
import type { Identity } from '../../doctor/describe.ts'

/** The parts of package.json that are used. */
export interface BundleManifest {
  readonly author?: unknown
  readonly license?: unknown
  readonly description?: unknown
}

/** The server's file, within the bundle. */
export const SERVER_FILE = 'server/index.mjs'

/** `variables`: the desktop application prompts its user for these and stores them as secrets. */
export function manifestOf(
  identity: Identity,
  manifest: BundleManifest,
  variables: readonly string[],
): object {
  const { id, name, title, version, websiteUrl, toolList, promptList } = identity
  const display = title ?? name
  const description =
    identity.description ??
    (typeof manifest.description === 'string' ? manifest.description : `${display}, an MCP server`)
  return {
    manifest_version: '0.3',
    name: id,
    display_name: display,
    version,
    description,
    author: authorOf(manifest.author) ?? { name: display },
    ...(websiteUrl !== undefined && { homepage: websiteUrl }),
    ...(typeof manifest.license === 'string' && { license: manifest.license }),
    server: {
      type: 'node',
      entry_point: SERVER_FILE,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${SERVER_FILE}`],
        ...(variables.length > 0 && {
          env: Object.fromEntries(variables.map((variable) => [variable, `\${user_config.${variable}}`])),
        }),
      },
    },
    ...(toolList.length > 0 && { tools: toolList }),
    // The format requires the text of each prompt, which depends on its arguments.
    ...(promptList.length > 0 && { prompts_generated: true }),
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=20.0.0' } },
    ...(variables.length > 0 && { user_config: Object.fromEntries(variables.map(asked)) }),
  }
}

function asked(variable: string): [string, object] {
  return [
    variable,
    {
      type: 'string',
      title: variable,
      description: `The server reads it as ${variable}`,
      required: true,
      sensitive: true,
    },
  ]
}

/** npm allows an object, or `Name <email> (url)`. */
function authorOf(author: unknown): { name: string; email?: string; url?: string } | undefined {
  if (typeof author === 'object' && author !== null) {
    const { name, email, url } = author as { name?: unknown; email?: unknown; url?: unknown }
    if (typeof name !== 'string') return undefined
    return {
      name,
      ...(typeof email === 'string' && { email }),
      ...(typeof url === 'string' && { url }),
    }
  }
  const [, name, email, url] =
    /^([^<(]+?)\s*(?:<([^>]+)>)?\s*(?:\(([^)]+)\))?$/.exec(String(author ?? '')) ?? []
  if (name === undefined) return undefined
  return { name, ...(email !== undefined && { email }), ...(url !== undefined && { url }) }
}
