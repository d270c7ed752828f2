/** examples/gateway, in front of two servers on loopback. */
import { expect, it } from 'vitest'
import { createFront } from '../../../examples/gateway/server.ts'
import { bearer } from '../../../src/auth.ts'
import { createTool } from '../../../src/index.ts'
import { startFetchServer, startMayfly } from '../client/_servers.ts'
import { connect, stock } from './_servers.ts'

it('the example serves both, with the credentials of each caller', async () => {
  const whoami = createTool({ id: 'whoami', execute: (_input, ctx) => ctx.auth?.clientId ?? 'nobody' })
  const auth = bearer((token) => ({ clientId: token, scopes: [] }))
  const urls = { docs: await startMayfly(stock), tickets: await startMayfly({ auth, tools: { whoami } }) }
  const client = connect(await startFetchServer(createFront(urls)), { token: 'ann' })

  expect(Object.keys(await client.listTools())).toEqual(['front_docs_add', 'front_tickets_whoami'])
  expect(await client.callTool('front', 'tickets_whoami')).toMatchObject({
    content: [{ text: 'tickets-token-of-ann' }],
  })
})
