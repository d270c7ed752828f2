/** `prompts/list` and `prompts/get`. */
import { inBothEras, legacy } from './_entry.ts'

const get = (id: string, name: unknown, args?: unknown) =>
  inBothEras(id, 'prompts/get', { name, ...(args !== undefined && { arguments: args }) })

export const promptsCorpus = [
  ...inBothEras('prompts/list', 'prompts/list'),
  ...inBothEras('prompts/list with a cursor nobody gave out', 'prompts/list', { cursor: 'x' }),
  ...inBothEras('prompts/list with a numeric cursor', 'prompts/list', { cursor: {} }),
  ...get('get greet', 'greet', { name: 'Ada', style: 'formal' }),
  ...get('get greet without the optional argument', 'greet', { name: 'Ada' }),
  ...get('get greet with an argument too many', 'greet', { name: 'Ada', more: 'x' }),
  ...get('get greet without the required argument', 'greet', { style: 'formal' }),
  ...get('get greet with empty arguments', 'greet', {}),
  ...get('get greet without arguments', 'greet'),
  ...get('get greet with a number', 'greet', { name: 5 }),
  ...get('get greet with null', 'greet', { name: null }),
  ...get('get greet with arguments as an array', 'greet', ['Ada']),
  ...get('get greet with arguments as a string', 'greet', 'Ada'),
  ...get('get hello', 'hello'),
  ...get('get hello with stray arguments', 'hello', { any: 'thing' }),
  ...get('get hello with a stray number', 'hello', { any: 1 }),
  ...get('get illustrated', 'illustrated'),
  ...get('get what throws', 'broken'),
  ...get('get an unknown prompt', 'nope'),
  ...get('get the prompt constructor', 'constructor'),
  ...get('get the prompt __proto__', '__proto__'),
  ...get('get the empty name', ''),
  ...get('get a numeric name', 7),
  ...inBothEras('get no name', 'prompts/get', {}),
  legacy('get without params', 'prompts/get'),
  legacy(
    'get greet in 2025-03-26',
    'prompts/get',
    { name: 'greet', arguments: { name: 'Ada' } },
    {
      version: '2025-03-26',
    },
  ),
]
