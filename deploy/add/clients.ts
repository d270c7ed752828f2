/**
 * The clients that `mayfly add` supports: where each keeps its servers, in which format, and where that is documented. The server's page
 * builds its snippets from the same data, so the two cannot disagree.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { connectSnippets } from '../../src/http/connect-snippets.ts'
import { reachOf } from '../../src/request/address.ts'

/** A header whose value comes from an environment variable of the client. */
export interface HeaderReference {
  readonly header: string
  readonly variable: string
  readonly prefix: '' | 'Bearer '
}

export interface AddedServer {
  readonly name: string
  readonly url: string
  readonly headers: readonly HeaderReference[]
}

export type Scope = 'project' | 'user'

/** The parts of a machine that decide where a client's files are. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

/** What goes into a file. */
export interface Addition {
  readonly key: string
  readonly entry: object
  /** What the client asks its user for, in the list `inputs` of VS Code. */
  readonly inputs?: readonly { readonly id: string }[]
}

export interface Client {
  readonly title: string
  /** Where the form is documented, and when that was read. */
  readonly source: string
  readonly checked: string
  readonly format: 'json' | 'toml'
  /** The files it reads, relative to the project or absolute; the first is the default. */
  readonly files: { readonly [scope in Scope]?: (machine: Machine) => string }
  /** Undefined if the client cannot send the headers. */
  addition(server: AddedServer): Addition | undefined
  /** What the user does instead, for a client without a file to write. */
  instead?(server: AddedServer, scope: Scope): string | undefined
}

/** Where desktop applications keep their settings. */
function settingsFolder({ platform, home, env }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support')
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData/Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}

/** The only member of the only member of a snippet: `{ "mcpServers": { "shop": { … } } }`. */
function fromPage(client: string, { name, url }: AddedServer): { key: string; entry: object } {
  const blocks = connectSnippets(name, url).find((snippet) => snippet.client === client)!.blocks
  const [[key, servers]] = Object.entries(JSON.parse(blocks.at(-1)!.code)) as [[string, object]]
  return { key, entry: Object.values(servers)[0] as object }
}

/** `headers` as JSON files hold them; empty without headers. */
function headersBy(
  { headers }: AddedServer,
  reference: (variable: string) => string,
): { headers?: { readonly [header: string]: string } } {
  if (headers.length === 0) return {}
  const entries = headers.map(({ header, variable, prefix }) => [header, prefix + reference(variable)])
  return { headers: Object.fromEntries(entries) }
}

function jsonAddition(
  server: AddedServer,
  { key, entry }: { key: string; entry: object },
  reference: (variable: string) => string,
): Addition {
  return { key, entry: { ...entry, ...headersBy(server, reference) } }
}

/** VS Code prompts for the value once and stores it. It does not expand variables in headers. */
function inputsOf({ headers }: AddedServer): Pick<Addition, 'inputs'> {
  if (headers.length === 0) return {}
  const inputs = headers.map(({ variable }) => ({
    type: 'promptString',
    id: variable,
    description: variable,
    password: true,
  }))
  return { inputs }
}

function codexEntry({ url, headers }: AddedServer): object {
  const bearer = headers.find(({ prefix }) => prefix !== '')
  const others = headers.filter((reference) => reference !== bearer)
  return {
    url,
    ...(bearer !== undefined && { bearer_token_env_var: bearer.variable }),
    ...(others.length > 0 && {
      env_http_headers: Object.fromEntries(others.map(({ header, variable }) => [header, variable])),
    }),
  }
}

const isLocal = (url: string): boolean => reachOf(new URL(url).hostname) === 'loopback'

/** Anthropic's servers call connectors, over https. Any other server is reached through `mcp-remote`. */
const isPublic = (url: string): boolean =>
  url.startsWith('https:') && reachOf(new URL(url).hostname) === 'public'

function bridgeEntry(url: string): object {
  const flags = url.startsWith('http:') && !isLocal(url) ? ['--allow-http'] : []
  return { command: 'npx', args: ['-y', 'mcp-remote', url, ...flags] }
}

export const CLIENTS: { readonly [id: string]: Client } = {
  'claude-code': {
    title: 'Claude Code',
    source: 'https://code.claude.com/docs/en/mcp',
    checked: '2026-11-23',
    format: 'json',
    // Claude Code rewrites ~/.claude.json while it runs, so only its own command may change that file.
    files: { project: () => '.mcp.json', user: ({ home }) => join(home, '.claude.json') },
    addition: (server) =>
      jsonAddition(server, fromPage('Other clients', server), (variable) => `\${${variable}}`),
    instead: ({ name, url, headers }, scope) => {
      if (scope === 'project') return undefined
      const [block] = connectSnippets(name, url).find(({ client }) => client === 'Claude Code')!.blocks
      const more = headers.map(
        ({ header, variable, prefix }) => ` --header '${header}: ${prefix}\${${variable}}'`,
      )
      return block!.code.replace(' mcp add ', ' mcp add --scope user ') + more.join('')
    },
  },
  cursor: {
    title: 'Cursor',
    source: 'https://cursor.com/docs/mcp',
    checked: '2026-11-23',
    format: 'json',
    files: { project: () => '.cursor/mcp.json', user: ({ home }) => join(home, '.cursor/mcp.json') },
    addition: (server) =>
      jsonAddition(server, fromPage('Cursor', server), (variable) => `\${env:${variable}}`),
  },
  vscode: {
    title: 'VS Code',
    source: 'https://code.visualstudio.com/docs/copilot/reference/mcp-configuration',
    checked: '2026-11-23',
    format: 'json',
    files: {
      project: () => '.vscode/mcp.json',
      user: (machine) => join(settingsFolder(machine), 'Code/User/mcp.json'),
    },
    addition: (server) => ({
      ...jsonAddition(server, fromPage('VS Code', server), (variable) => `\${input:${variable}}`),
      ...inputsOf(server),
    }),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    source: 'https://support.claude.com/en/articles/11175166-getting-started-with-custom-connectors',
    checked: '2026-11-23',
    format: 'json',
    files: { user: (machine) => join(settingsFolder(machine), 'Claude/claude_desktop_config.json') },
    addition: ({ url, headers }) =>
      headers.length > 0 ? undefined : { key: 'mcpServers', entry: bridgeEntry(url) },
    instead: ({ name, url, headers }) =>
      isPublic(url) && headers.length === 0
        ? `In Claude: Settings > Connectors > Add custom connector, name ${name}, URL ${url}`
        : undefined,
  },
  windsurf: {
    title: 'Windsurf',
    source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
    checked: '2026-11-23',
    format: 'json',
    files: { user: ({ home }) => join(home, '.codeium/windsurf/mcp_config.json') },
    addition: (server) =>
      jsonAddition(server, fromPage('Windsurf', server), (variable) => `\${env:${variable}}`),
  },
  codex: {
    title: 'Codex',
    source: 'https://developers.openai.com/codex/mcp',
    checked: '2026-11-23',
    format: 'toml',
    // It reads a project's file only after the user trusts that project.
    files: {
      user: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
      project: () => '.codex/config.toml',
    },
    addition: (server) => ({ key: 'mcp_servers', entry: codexEntry(server) }),
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md',
    checked: '2026-11-23',
    format: 'json',
    files: {
      project: () => '.gemini/settings.json',
      user: ({ home }) => join(home, '.gemini/settings.json'),
    },
    addition: (server) =>
      jsonAddition(
        server,
        { key: 'mcpServers', entry: { httpUrl: server.url } },
        (variable) => `\${${variable}}`,
      ),
  },
  zed: {
    title: 'Zed',
    source: 'https://zed.dev/docs/ai/mcp',
    checked: '2026-11-23',
    format: 'json',
    files: {
      user: (machine) =>
        machine.platform === 'darwin'
          ? join(machine.home, '.config/zed/settings.json')
          : join(settingsFolder(machine), machine.platform === 'win32' ? 'Zed' : 'zed', 'settings.json'),
    },
    // Header values are literal, so a secret would have to be in the file.
    addition: (server) =>
      server.headers.length > 0 ? undefined : { key: 'context_servers', entry: { url: server.url } },
  },
  opencode: {
    title: 'opencode',
    source: 'https://opencode.ai/docs/mcp-servers',
    checked: '2026-11-23',
    format: 'json',
    files: {
      project: () => 'opencode.json',
      user: ({ home }) => join(home, '.config/opencode/opencode.json'),
    },
    addition: (server) =>
      jsonAddition(
        server,
        { key: 'mcp', entry: { type: 'remote', url: server.url, enabled: true } },
        (variable) => `{env:${variable}}`,
      ),
  },
}

export const thisMachine = (): Machine => ({
  platform: process.platform,
  home: homedir(),
  env: process.env,
})
