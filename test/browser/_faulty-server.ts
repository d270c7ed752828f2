/** The code of a server whose tools fail as a beginner's do: the tests write it, and change it while `mayfly dev` serves it. */
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

/** `server.ts`, which imports `prices.ts`. @param port where nothing listens. */
export function faultyServer(port: number): string {
  return `
import * as z from 'zod'
import { createTool, MCPServer } from '${SOURCE}/index.ts'
import { price } from './prices.ts'

const tool = (id, execute, more = {}) => createTool({ id, description: id, execute, ...more })

export default new MCPServer({
  id: 'faulty',
  name: 'Faulty',
  version: '1.0.0',
  tools: {
    helper: tool('helper', () => price([3])),
    database: tool('database', async () => (await fetch('http://127.0.0.1:${port}/orders')).json()),
    variable: tool('variable', (_input, ctx) => {
      return ctx.env.SHOP_REGION.toUpperCase()
    }),
    result: tool('result', () => ({ price: 'three' }), { outputSchema: z.object({ price: z.number() }) }),
    refusing: tool('refusing', () => 'never', { inputSchema: z.object({ day: z.iso.date().default('today') }) }),
    silent: tool('silent', () => new Promise(() => {})),
  },
})
`
}

export const PRICES = `
function round(amount) {
  if (amount < 10) throw new RangeError('amount <b>below</b> the minimum')
  return amount
}
export function price(amounts) {
  return amounts.map((amount) => round(amount)).join()
}
`
