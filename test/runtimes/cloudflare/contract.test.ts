import { contract } from '../../contract/contract.ts'
import { serveDev } from '../_dev-server.ts'

contract('cloudflare', {
  userAgent: /^Cloudflare-Workers$/,
  start: () => serveDev('test/contract/fixture.ts', 'cloudflare'),
})
