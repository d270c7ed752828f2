/** `resources/list`, `resources/templates/list` and `resources/read`. */
import { inBothEras, legacy } from './_entry.ts'

const read = (id: string, uri: unknown) => inBothEras(id, 'resources/read', { uri })

export const resourcesCorpus = [
  ...inBothEras('resources/list', 'resources/list'),
  ...inBothEras('resources/list with a cursor nobody gave out', 'resources/list', { cursor: 'x' }),
  ...inBothEras('resources/list with a numeric cursor', 'resources/list', { cursor: 3 }),
  ...inBothEras('resources/templates/list', 'resources/templates/list'),
  ...inBothEras('resources/templates/list with a cursor nobody gave out', 'resources/templates/list', {
    cursor: 'x',
  }),
  ...read('read text', 'doc://readme'),
  ...read('read a blob', 'doc://logo'),
  ...read('read two parts', 'doc://chapters'),
  ...read('read a template', 'users://ada'),
  ...read('read a template with two variables', 'repo://acme/files/read.me'),
  ...read('read a template with escapes', 'users://ada%20lovelace'),
  ...read('read a template with broken escapes', 'users://%zz'),
  ...read('read a template with nothing', 'users://'),
  ...read('read a template with a slash', 'users://ada/lovelace'),
  ...read('read an unknown uri', 'doc://nope'),
  ...read('read a file of the machine', 'file:///etc/passwd'),
  ...read('read a path that climbs', 'repo://acme/files/..%2f..%2fetc'),
  ...read('read what is no uri', 'not a uri'),
  ...read('read the empty uri', ''),
  ...read('read __proto__', '__proto__'),
  ...read('read 10 000 letters', `users://${'a'.repeat(10_000)}`),
  ...read('read a number', 5),
  ...read('read null', null),
  ...read('read what throws', 'doc://broken'),
  ...inBothEras('read without a uri', 'resources/read', {}),
  legacy('read in 2025-03-26', 'resources/read', { uri: 'doc://readme' }, { version: '2025-03-26' }),
  legacy(
    'read an unknown uri in 2025-03-26',
    'resources/read',
    { uri: 'doc://nope' },
    { version: '2025-03-26' },
  ),
]
