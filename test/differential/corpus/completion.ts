/** `completion/complete`. */
import { inBothEras, type Params } from './_entry.ts'

const GREET = { type: 'ref/prompt', name: 'greet' }
const USER = { type: 'ref/resource', uri: 'users://{id}' }

const complete = (id: string, ref: unknown, argument: unknown, more: Params = {}) =>
  inBothEras(`complete ${id}`, 'completion/complete', { ref, argument, ...more })

export const completionCorpus = [
  ...complete('a prompt argument', GREET, { name: 'style', value: 'f' }),
  ...complete('a prompt argument from nothing', GREET, { name: 'style', value: '' }),
  ...complete('a prompt argument to nothing', GREET, { name: 'style', value: 'zzz' }),
  ...complete('a prompt argument without suggestions', GREET, { name: 'name', value: 'A' }),
  ...complete('an argument the prompt has not', GREET, { name: 'nope', value: 'A' }),
  ...complete('the argument constructor', GREET, { name: 'constructor', value: 'A' }),
  ...complete(
    'an argument of a prompt without arguments',
    { type: 'ref/prompt', name: 'hello' },
    { name: 'x', value: '' },
  ),
  ...complete('an unknown prompt', { type: 'ref/prompt', name: 'nope' }, { name: 'x', value: '' }),
  ...complete('a prompt with a title', { ...GREET, title: 'Greet' }, { name: 'style', value: '' }),
  ...complete(
    'with context',
    GREET,
    { name: 'style', value: '' },
    { context: { arguments: { name: 'Ada' } } },
  ),
  ...complete('with an empty context', GREET, { name: 'style', value: '' }, { context: {} }),
  ...complete(
    'with a wrong context',
    GREET,
    { name: 'style', value: '' },
    { context: { arguments: { name: 5 } } },
  ),
  ...complete('with context as a string', GREET, { name: 'style', value: '' }, { context: 'x' }),
  ...complete('a template variable', USER, { name: 'id', value: 'a' }),
  ...complete(
    'a template variable with 120 values',
    { type: 'ref/resource', uri: 'repo://{owner}/files/{name}' },
    { name: 'owner', value: '' },
  ),
  ...complete(
    'a template variable without suggestions',
    { type: 'ref/resource', uri: 'repo://{owner}/files/{name}' },
    { name: 'name', value: '' },
  ),
  ...complete('a variable the template has not', USER, { name: 'nope', value: '' }),
  ...complete('an unknown template', { type: 'ref/resource', uri: 'nope://{x}' }, { name: 'x', value: '' }),
  ...complete('a fixed resource', { type: 'ref/resource', uri: 'doc://readme' }, { name: 'x', value: '' }),
  ...complete(
    'an unknown kind of reference',
    { type: 'ref/tool', name: 'echo' },
    { name: 'text', value: '' },
  ),
  ...complete('a reference without a type', { name: 'greet' }, { name: 'style', value: '' }),
  ...complete('a reference that is a string', 'greet', { name: 'style', value: '' }),
  ...complete('an argument without a value', GREET, { name: 'style' }),
  ...complete('an argument without a name', GREET, { value: 'f' }),
  ...complete('a numeric value', GREET, { name: 'style', value: 5 }),
  ...complete('an argument that is a string', GREET, 'style'),
  ...complete(
    'a reference whose name cannot become text',
    { type: 'ref/prompt', name: { toString: 1 } },
    { name: 'style', value: '' },
  ),
  ...inBothEras('complete nothing', 'completion/complete', {}),
]
