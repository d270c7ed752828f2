/**
 * How to connect the common MCP clients to one server, as text to copy: shown on the landing page and by the CLI.
 *
 * `connectSnippets` is pure; shell words are quoted for POSIX shells, configuration is JSON.
 */

/** One snippet to copy; `where` names the file, menu or terminal it goes into. */
export interface SnippetBlock {
  where: string
  code: string
}

/** The snippets for one client; the blocks are alternatives. */
export interface ConnectSnippet {
  client: string
  blocks: SnippetBlock[]
  /** Opens the client, which asks whether to add the server. */
  link?: string
}

/**
 * Snippets for the server `name` at `endpoint`. The name is slugified (`Ünits & Co` becomes `units-co`), since clients accept few other
 * characters. Throws TypeError if `endpoint` is not an absolute URL. Contains no credentials: clients discover OAuth (RFC 9728). Claude's
 * connectors and ChatGPT's apps accept only https.
 */
export function connectSnippets(name: string, endpoint: string): ConnectSnippet[] {
  const url = toLiteralUrl(new URL(endpoint))
  // Quoted only if necessary: cmd.exe would treat the quotes as part of the URL.
  const word = /[^\w@%+=:,./-]/.test(url) ? `'${url}'` : url
  const slug = toSlug(name)
  const http = { type: 'http', url }
  const named = JSON.stringify({ name: slug, ...http })
  const client = (name: string, ...blocks: SnippetBlock[]): ConnectSnippet => ({ client: name, blocks })
  const terminal = (code: string): SnippetBlock => ({ where: 'Terminal', code })
  const config = (where: string, key: string, entry: object): SnippetBlock => ({
    where,
    code: JSON.stringify({ [key]: { [slug]: entry } }, null, 2),
  })
  return [
    client('Claude Code', terminal(`claude mcp add --transport http ${slug} ${word}`)),
    // The servers of Anthropic and OpenAI call connectors and apps, over https.
    ...(url.startsWith('https:')
      ? [
          client('Claude Desktop, claude.ai', {
            where: 'Settings > Connectors > Add custom connector',
            code: url,
          }),
          client('ChatGPT', { where: 'Developer mode: Settings > Apps > Create app', code: url }),
        ]
      : []),
    {
      ...client('Cursor', config('.cursor/mcp.json', 'mcpServers', { url })),
      link: `cursor://anysphere.cursor-deeplink/mcp/install?name=${slug}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`,
    },
    {
      ...client(
        'VS Code',
        terminal(`code --add-mcp '${named}'`),
        config('.vscode/mcp.json', 'servers', http),
      ),
      link: `vscode:mcp/install?${encodeURIComponent(named)}`,
    },
    client('Windsurf', config('~/.codeium/windsurf/mcp_config.json', 'mcpServers', { serverUrl: url })),
    client('Other clients', config('MCP configuration', 'mcpServers', http)),
    client(
      'MCP Inspector',
      terminal(`npx @modelcontextprotocol/inspector --transport http --server-url ${word}`),
    ),
    client('curl', terminal(`curl -g ${word}${CURL_TOOLS_LIST}`)),
  ]
}

/**
 * The URL for a shell's single quotes and for clients' files, also inside JSON. Clients replace `${NAME}`, `$NAME` and `{env:NAME}` in URLs:
 * an address that a stranger wrote would get the secrets of the user. The host cannot be written otherwise.
 */
export function toLiteralUrl({ href }: URL): string {
  return href.replace(/['${}]/g, (character) => LITERAL[character]!)
}

const LITERAL: { readonly [character: string]: string } = { "'": '%27', $: '%24', '{': '%7B', '}': '%7D' }

/** A self-contained `tools/list`: MCP 2026-07-28 needs no handshake. `-g` stops curl from expanding the URL. */
const CURL_TOOLS_LIST = ` \\
  -H 'content-type: application/json' \\
  -H 'accept: application/json, text/event-stream' \\
  -H 'mcp-protocol-version: 2026-07-28' \\
  -H 'mcp-method: tools/list' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'`

const MARKS = /[\p{M}\uFF9E\uFF9F]/gu

/** Never empty, never starts with a dash: a name cannot become a command-line option. */
function toSlug(name: string): string {
  // Before as well: sorting a long run of marks takes quadratic time.
  const ascii = name.replace(MARKS, '').normalize('NFKD').replace(MARKS, '').toLowerCase()
  return ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'mcp-server'
}
