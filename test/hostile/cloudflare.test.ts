import { cloudflare } from '../../deploy/targets/cloudflare/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { hostile } from './_hostile.ts'

hostile('workerd', {
  start: () => serveArtefact('test/hostile/fixture.ts', cloudflare),
  before: {
    // Wrangler's proxy makes localhost of these before the Worker sees them.
    'Host: localhost/evil.example': [200],
    'Host: %6cocalhost': [200],
    // Wrangler's proxy answers these itself, before workerd.
    'GET *': [500],
    CONNECT: [500],
    'two hosts': [500],
    'a bad chunk size': [500],
    'a chunk size beyond all numbers': [500],
  },
})
