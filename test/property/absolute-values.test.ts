/** A template that resolves its variable as a path or a URL never reads what a fixed resource guards, however the value is absolute. */
import { posix, win32 } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createResource, MCPServer } from '../../src/index.ts'
import { answerOf, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

/** How a server finds the file of a value: its folder, and the file that is guarded. */
const RESOLVERS = {
  posix: { guarded: '/srv/docs/admin.md', resolve: (value: string) => posix.resolve('/srv/docs', value) },
  windows: {
    guarded: 'c:\\srv\\docs\\admin.md',
    resolve: (value: string) => {
      const path = win32.resolve('C:\\srv\\docs', value)
      return path
        .replace(/^\\\\(?:[?.]\\|localhost\\(?=c\$))/i, '')
        .replace(/^c\$/i, 'c:')
        .toLowerCase()
    },
  },
  url: {
    guarded: 'file:///srv/docs/admin.md',
    resolve: (value: string) => (URL.canParse(value, BASE) ? new URL(value, BASE).href : 'none'),
  },
}
const BASE = 'file:///srv/docs/'

/** Templates, with the URI of the guarded resource beside them. */
const TEMPLATES = [
  ['docs://{+value}', 'docs://admin.md'],
  ['docs:{+value}', 'docs:admin.md'],
  ['docs:///{value}', 'docs:///admin.md'],
  ['docs:///{+value}', 'docs:///admin.md'],
  ['docs://host/files/{+value}', 'docs://host/files/admin.md'],
  ['docs://files{/value}', 'docs://files/admin.md'],
  ['docs://v-{+value}', 'docs://v-admin.md'],
  ['docs://v{+value}', 'docs://vadmin.md'],
  ['docs://files{?value}', 'docs://files?value=admin.md'],
  ['docs://{team},{+value}', 'docs://a,admin.md'],
] as const

const absolute = fc
  .tuple(
    fc.constantFrom(
      '/srv/docs/',
      '//srv/docs/',
      '/./srv/x/../docs/',
      '\\srv\\docs\\',
      'C:',
      'c:',
      'C:/srv/docs/',
      'C:\\srv\\docs\\',
      '\\\\?\\C:\\srv\\docs\\',
      '//./C:/srv/docs/',
      '\\\\localhost\\C$\\srv\\docs\\',
      'file:',
      'file:/srv/docs/',
      'file:///srv/docs/',
      'FILE:///srv//docs/../docs/',
      '///srv/docs/',
      ' /srv/docs/',
    ),
    fc.constantFrom('admin.md', 'ADMIN.md', './admin.md', 'x/../admin.md', 'admin%2Emd'),
  )
  .map((parts) => parts.join(''))

/** A value as a client may write it in a URI. */
const writings = fc.constantFrom(
  (value: string) => value,
  encodeURI,
  encodeURIComponent,
  (value: string) => encodeURIComponent(encodeURIComponent(value)),
)

test('any absolute value → refused, or it leads elsewhere [auth.spelling]', async () => {
  const reached = { guarded: 0, refused: 0 }
  await check(
    fc.asyncProperty(
      fc.constantFrom(...TEMPLATES),
      fc.constantFrom(...Object.values(RESOLVERS)),
      absolute,
      writings,
      async ([uriTemplate, fixed], { guarded, resolve }, value, write) => {
        const read = async (token: string): Promise<readonly [path: string | undefined, status: number]> => {
          let path: string | undefined
          const server = new MCPServer({
            name: 'Files',
            version: '1.0.0',
            log: false,
            auth: bearer((scope) => ({ clientId: 'ann', scopes: [scope] })),
            resources: [
              createResource({ uri: fixed, scopes: ['admin'], read: () => 'secret' }),
              createResource({
                uriTemplate,
                read: ({ variables }) => {
                  path = resolve(variables.value ?? '')
                  return 'open'
                },
              }),
            ],
          })
          const uri = uriTemplate.replace('{team}', 'a').replace(/\{[+/?]?value\}/, (expression) => {
            const lead = { '/': '/', '?': '?value=' }[expression[1]!] ?? ''
            return lead + write(value)
          })
          const headers = { authorization: `Bearer ${token}` }
          const answer = await answerOf(
            await server.fetch(modernRequest('resources/read', { params: { uri }, headers })),
          )
          return [path, answer.status]
        }
        const [open, status] = await read('none')
        expect(open).not.toBe(guarded)
        if (status === 403) reached.refused++
        if ((await read('admin'))[0] === guarded) reached.guarded++
      },
    ),
    3000,
  )
  expect(reached.guarded).toBeGreaterThan(300)
})

test.each([
  ['docs:///{+path}', 'docs:///index.md', 'docs:///guide/index.md'],
  ['docs://{+path}', 'docs://index.md', 'docs://guide/index.md'],
  ['file://{+path}', 'file:///srv/index.md', 'file:///srv/guide/srv/index.md'],
  ['web://{+url}', 'web://admin', 'web://https://docs.example/page'],
  ['docs://{host}{+path}', 'docs://a/index.md', 'docs://a/guide/page.md'],
])('%s beside %s: %s is open [auth.spelling]', async (uriTemplate, uri, asked) => {
  const server = new MCPServer({
    name: 'Files',
    version: '1.0.0',
    log: false,
    auth: bearer(() => ({ clientId: 'ann', scopes: [] })),
    resources: [
      createResource({ uri, scopes: ['admin'], read: () => 'secret' }),
      createResource({ uriTemplate, read: () => 'open' }),
    ],
  })
  const headers = { authorization: 'Bearer x' }
  const { status } = await answerOf(
    await server.fetch(modernRequest('resources/read', { params: { uri: asked }, headers })),
  )
  expect(status).toBe(200)
})
