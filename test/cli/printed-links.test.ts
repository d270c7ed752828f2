/** URLs of a server are shown as a browser opens them: a host in another script is not taken for the one that it looks like. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { quote, toSafeText } from '../../deploy/check/safe-text.ts'
import { createHide } from '../../deploy/check/secrets.ts'
import { findDeployedUrl } from '../../deploy/commands/_deployed-url.ts'
import { asOpened } from '../../deploy/playground/browser/dom.ts'
import { runCheck } from './_check-command.ts'

/** The first letter is Cyrillic. */
const LOOKALIKE = 'https://\u0430pple.com/sign-in'
const OPENED = 'https://xn--pple-43d.com/sign-in'

const shown = (text: string, secrets: string[] = []): string => toSafeText(quote(text), createHide(secrets))

test.each([
  [LOOKALIKE, OPENED],
  [`see ${LOOKALIKE}, then`, `see ${OPENED}, then`],
  ['https://example.com/\u0430', 'https://example.com/%D0%B0'],
  ['https://example\u3002com', 'https://example.com/'],
  ['https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
  ['http://', 'http://'],
  ['\u0430pple.com', '\u0430pple.com'],
])('check shows %j as %j', (text, expected) => {
  expect(shown(text)).toBe(`"${expected}"`)
})

test('no form of a URL shows a secret', () => {
  expect(shown('https://a.example/\uff53ecretvalue', ['secretvalue'])).not.toContain('secretvalue')
  expect(shown('https://\uff53ecretvalue.example/', ['secretvalue'])).not.toContain('secretvalue')
})

test('the playground and deploy show the same form', async () => {
  expect(asOpened(LOOKALIKE)).toBe(OPENED)
  expect(asOpened('no URL')).toBe('no URL')
  const endpoint = { find: () => LOOKALIKE }
  expect(await findDeployedUrl({ endpoint } as never, '', '')).toBe(OPENED)
})

test('mayfly check --as, of an issuer with such a name', async () => {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    const own = `http://127.0.0.1:${port}`
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return response.end(JSON.stringify({ resource: `${own}/mcp`, authorization_servers: [LOOKALIKE] }))
    response.setHeader(
      'www-authenticate',
      `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"`,
    )
    response.writeHead(401).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { stdout } = await runCheck([
    `http://127.0.0.1:${port}/mcp`,
    '--no-register',
    '--as',
    'cursor',
    '--timeout',
    '2000',
  ])
  server.close()
  expect(stdout).toContain('xn--pple-43d.com')
  expect(stdout).not.toContain('\u0430pple.com')
})
