/** An extension of one's own, with every kind of method. */
import * as z from 'zod'
import { createMethod, type ExtensionConfig, extension } from '../../../src/extensions.ts'
import { type MCPServerConfig, ProtocolError } from '../../../src/index.ts'
import { createServer, META, type SendOptions } from '../_client.ts'

export const ID = 'com.example/forecast'
export const SUBSCRIPTION = { [META.subscriptionId]: 1 }

/** Of a client that has the extension. */
export const DECLARED: SendOptions = {
  meta: { [META.clientCapabilities]: { extensions: { [ID]: { units: 'celsius' } } } },
}

export const get = createMethod({
  paramsSchema: z.object({ city: z.string() }),
  resultSchema: z.object({ city: z.string(), celsius: z.number() }),
  execute: async ({ city }, ctx) => {
    if (city === 'Atlantis') throw new ProtocolError(-32011, 'NotFound', { kind: 'city' })
    if (city === 'Error') throw new Error('the secret reason')
    return { city, celsius: city === 'Nowhere' ? ('cold' as never) : 21, _meta: { era: ctx.era } }
  },
})

export const settings = createMethod({
  execute: (params, ctx) => ({ params, client: ctx.clientExtension(ID) ?? null, canStream: ctx.canStream }),
})

export const watch = createMethod({
  paramsSchema: z.object({ times: z.number() }),
  async *stream({ times }) {
    if (times < 0) throw new ProtocolError(-32014, 'Unsupported', { times }, { status: 400 })
    for (let celsius = 1; celsius <= times; celsius++)
      yield { method: 'notifications/forecast/changed', params: { celsius } }
    return { times }
  },
})

export const CONFIG = {
  id: ID,
  settings: { cities: 3 },
  methods: { 'forecast/get': get, 'forecast/settings': settings, 'forecast/watch': watch },
  notifications: ['notifications/forecast/changed'],
} satisfies ExtensionConfig

export function forecastServer(config: Partial<ExtensionConfig> = {}, server: Partial<MCPServerConfig> = {}) {
  return createServer({ extensions: [extension({ ...CONFIG, ...config })], ...server })
}
