import { contract } from '../../contract/contract.ts'
import { serveDev } from '../_dev-server.ts'

contract('node', {
  userAgent: /^Node\.js\//,
  start: () => serveDev('test/contract/fixture.ts', 'node'),
})
