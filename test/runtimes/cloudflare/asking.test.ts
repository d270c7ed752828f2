/** Asking on workerd, legacy answers meeting their calls in real Durable Objects. */
import { fileURLToPath } from 'node:url'
import { askingContract } from '../../contract/asking.ts'
import { serveDev } from '../_dev-server.ts'

askingContract('workerd', async () => {
  const served = await serveDev('server.ts', 'cloudflare', fileURLToPath(new URL('asking/', import.meta.url)))
  return { ...served, processes: [served.url] }
})
