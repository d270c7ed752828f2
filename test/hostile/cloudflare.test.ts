import { cloudflare } from '../../deploy/cloudflare/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { hostile } from './_hostile.ts'

hostile('workerd', {
  start: () => serveArtefact('test/hostile/fixture.ts', cloudflare),
  before: {
    // Another way to write 127.0.0.1, which wrangler has done away with before the Worker sees it.
    'Host: 2130706433': [200],
    // Wrangler's proxy answers these itself, before workerd.
    'GET *': [500],
    CONNECT: [500],
    'two hosts': [500],
    'a bad chunk size': [500],
    'a chunk size beyond all numbers': [500],
  },
})
