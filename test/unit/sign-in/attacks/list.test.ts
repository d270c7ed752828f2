/** That every attack of the two documents is tried here, or why it cannot be. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** RFC 9700 §4, and the protocol's pages "Security Best Practices" and "Authorization: Security Considerations". */
const ATTACKS: readonly string[] = [
  'RFC 9700 §4.1: insufficient redirect URI validation',
  'RFC 9700 §4.2: credential leakage via Referer headers',
  'RFC 9700 §4.3: credential leakage via browser history',
  'RFC 9700 §4.4: mix-up',
  'RFC 9700 §4.5: authorization code injection',
  'RFC 9700 §4.6: access token injection',
  'RFC 9700 §4.7: cross-site request forgery',
  'RFC 9700 §4.7: login CSRF',
  'RFC 9700 §4.7: cookie tossing',
  'RFC 9700 §4.8: PKCE downgrade',
  'RFC 9700 §4.9: access token leakage at the resource server',
  'RFC 9700 §4.10: misuse of stolen access tokens',
  'RFC 9700 §4.11: open redirection',
  '§4.11.1:',
  '§4.11.2:',
  'RFC 9700 §4.12: 307 redirect',
  'RFC 9700 §4.13 and DNS rebinding',
  'RFC 9700 §4.14: refresh tokens',
  'RFC 9700 §4.15: a client impersonates a resource owner',
  'RFC 9700 §4.16: clickjacking',
  'RFC 9700 §4.17: attacks on in-browser communication flows',
  'MCP confused deputy: consent before the third-party authorization server',
  'MCP confused deputy: the registry of who let in whom',
  'MCP confused deputy: the consent page and its cookies',
  'MCP confused deputy: ways around the question',
  'MCP token passthrough',
  'MCP SSRF',
  'MCP session hijacking',
  'MCP client ID metadata documents: a client impersonates another',
  'MCP client ID metadata documents: localhost redirect URI risks',
]

/** With the place where it is tried instead, if there is one. */
const NOT_HERE: { readonly [attack: string]: string } = {
  'RFC 9700 §4.1.2: redirect URI attacks on the implicit grant':
    'There is no implicit grant: §4.6 tries each response type.',
  'RFC 9700 §4.2.3: consequences at the client':
    'The pages of clients are not ours. What ours tell is in §4.2.',
  'RFC 9700 §4.10.1: sender-constrained access tokens':
    'Not offered: MCP clients have neither DPoP nor certificates for it. Tokens are for one resource (§4.10.2) and an hour.',
  'RFC 9700 §4.13: headers of a reverse proxy about TLS':
    'No certificate of a client is read, so no header can pretend one: tried under §4.13. Forwarded addresses: test/unit/public-url.test.ts.',
  'MCP SSRF: a name that resolves to a private address, or to another one later':
    'fetch does not say what a name resolves to. Only https is used, so the address would need a certificate for the name: SECURITY.md.',
  'MCP SSRF: in clients': 'About MCPClient: test/unit/client and test/hostile/client.',
  'MCP session hijacking: events of another session':
    'Sign-in has no events. Sessions of the protocol: test/unit/session-streams.test.ts.',
  'MCP local server compromise': 'About servers that run on the person’s computer.',
  'MCP scoped authorization receipts': 'Not normative, and about what a tool does.',
  'MCP scope minimization':
    'The scopes are the operator’s; each is asked for by its name and shown with its sentence: requests.test.ts.',
  'MCP mix-up in clients': 'The client checks `iss`: test/unit/client. What it checks is in §4.4.',
}

const folder = new URL('.', import.meta.url)

it('every attack is in the title of a test, or there is a reason', () => {
  const titles = readdirSync(folder)
    .filter((file) => file.endsWith('.test.ts') && file !== 'list.test.ts')
    .flatMap(
      (file) =>
        readFileSync(new URL(file, folder), 'utf8').match(
          /(?:describe|it)(?:\.each\([\s\S]*?\))?\(\s*['"`].*/g,
        ) ?? [],
    )
    .join('\n')
  expect(ATTACKS.filter((attack) => !titles.includes(attack))).toEqual([])
  // Each section of the RFC is named.
  for (let section = 1; section <= 17; section++)
    expect([...ATTACKS, ...Object.keys(NOT_HERE)].some((attack) => attack.includes(`§4.${section}`))).toBe(
      true,
    )
  for (const reason of Object.values(NOT_HERE)) expect(reason.length).toBeGreaterThan(20)
})
